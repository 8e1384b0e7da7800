package nas

import "golang.org/x/sys/unix"

// onShare reports whether a file lies on another machine, or may: the memory that readers
// and writers of a write-ahead log share ends there (upstreams/nas.md, section 7).
func onShare(path string) bool {
	var disk unix.Statfs_t
	if err := unix.Statfs(path, &disk); err != nil {
		return true
	}
	return isShare(uint32(disk.Type))
}

// isShare reports whether a type of file system is one of networks.
func isShare(kind uint32) bool {
	switch kind {
	case unix.NFS_SUPER_MAGIC, unix.SMB_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC:
		return true
	}
	return false
}
