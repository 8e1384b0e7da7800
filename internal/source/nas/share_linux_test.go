package nas

import "testing"

// The numbers are those of linux/magic.h and statfs(2).
func TestFileSystemsOfNetworks(t *testing.T) {
	for name, kind := range map[string]uint32{"nfs": 0x6969, "smb": 0x517b, "cifs": 0xff534d42, "smb2": 0xfe534d42, "fuse": 0x65735546, "9p": 0x01021997} {
		if !isShare(kind) {
			t.Errorf("%s is no share", name)
		}
	}
	for name, kind := range map[string]uint32{"ext4": 0xef53, "btrfs": 0x9123683e, "xfs": 0x58465342, "zfs": 0x2fc12fc1, "overlay": 0x794c7630, "tmpfs": 0x01021994} {
		if isShare(kind) {
			t.Errorf("%s is a share", name)
		}
	}
	if got := (fileState{index: true, share: true}).handling(); got != Copied {
		t.Errorf("a library on a share is handled %s", got)
	}
}
