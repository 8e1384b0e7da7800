package notify

import "time"

// Tests play days.
func init() { idleOfOthers = time.Minute }

// HasMatter reports whether notices of a kind stand for a matter.
func (k KindInfo) HasMatter() bool { return k.hasMatter() }

// MatterOf is the key of a matter, and MatterOfBefore that of older versions, which had the name of the account in it.
func MatterOf(n Notice) string { return matter(n) }

// MatterOfBefore is explained at MatterOf.
func MatterOfBefore(n Notice) string {
	all := matters(n)
	return all[len(all)-1]
}
