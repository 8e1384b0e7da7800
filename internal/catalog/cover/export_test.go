package cover

// KeepAtMost makes the folder of a Keeper hold so many bytes.
func (k *Keeper) KeepAtMost(bytes int64) { k.shelf.most = bytes }

// Smaller is the path that is asked for.
var Smaller = smaller
