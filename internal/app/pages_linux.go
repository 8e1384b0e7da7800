package app

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

// releaseProgram gives back the pages of the program's own file, most of which only the start needed (docs/decisions/0106). One
// that is needed again comes from the system's cache of the file. A mapping that was ever written to is left alone: it could not be
// read anew. Where the system does not tell, or refuses, nothing happens.
func releaseProgram() {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	mappings, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		return
	}
	var start, end uintptr
	for line := range bytes.Lines(mappings) {
		switch fields := bytes.Fields(line); {
		case !bytes.HasSuffix(fields[0], []byte(":")): // the first line of a mapping
			start, end = 0, 0
			if bytes.HasPrefix(fields[1], []byte("r-")) && bytes.HasSuffix(line, []byte(" "+path+"\n")) {
				_, _ = fmt.Sscanf(string(fields[0]), "%x-%x", &start, &end) // what cannot be read stays 0
			}
		case string(fields[0]) == "Anonymous:" && string(fields[1]) == "0" && end > start:
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, start, end-start, syscall.MADV_DONTNEED)
		}
	}
}
