package cover

// KeepAtMost makes the folder of a Cache hold so many bytes.
func (k *Cache) KeepAtMost(bytes int64) { k.shelf.most = bytes }

// Smaller is the path that is asked for.
var Smaller = smaller
