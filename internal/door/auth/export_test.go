package auth

// TOTP is the code of a step.
var TOTP = totp

// ServiceHash is a hash as the service makes it.
var ServiceHash = decoyHash()

// Tests try many passwords: their hashes take 64 KiB each.
func init() { currentCost.Memory = 64 }
