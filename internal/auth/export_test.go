package auth

// TOTP is the code of a step.
var TOTP = totp
