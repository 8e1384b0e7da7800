package db

// OpenWith opens a database with migrations of the test's own.
var OpenWith = open
