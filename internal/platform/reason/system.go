package reason

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// known is an error of the system or the standard library that people meet.
type known struct {
	kind *Kind
	is   func(error) bool
}

func when(target error, code, chinese string) known {
	return known{New(code, "{detail}", chinese), func(err error) bool { return errors.Is(err, target) }}
}

// system are those errors, each with its own text in English.
var system = []known{
	when(syscall.ECONNREFUSED, "system_connection_refused", "连接被拒绝"),
	when(syscall.ECONNRESET, "system_connection_reset", "连接被重置"),
	when(syscall.EHOSTUNREACH, "system_host_unreachable", "无法到达主机"),
	when(syscall.ENETUNREACH, "system_network_unreachable", "网络不可达"),
	when(syscall.EROFS, "system_read_only", "文件系统是只读的"),
	when(syscall.ENOSPC, "system_disk_full", "磁盘空间不足"),
	when(syscall.EISDIR, "system_is_folder", "这是一个文件夹"),
	when(os.ErrPermission, "system_permission", "没有权限"),
	when(os.ErrNotExist, "system_no_file", "没有这个文件或文件夹"),
	when(context.Canceled, "system_canceled", "已取消"),
	{New("system_no_host", "{detail}", "找不到该主机名"), func(err error) bool {
		var dns *net.DNSError
		return errors.As(err, &dns) && dns.IsNotFound
	}},
	{New("system_timeout", "{detail}", "超时"), func(err error) bool {
		var timeout net.Error
		return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &timeout) && timeout.Timeout()
	}},
	when(io.ErrUnexpectedEOF, "system_broken_off", "数据中途断开"),
}

// textOf is the text of an error without the address of the name server that was asked: that is of the network of the service, which
// is nothing to who reads the error.
func textOf(err error) string {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.Server != "" {
		return strings.Replace(err.Error(), " on "+dns.Server, "", 1)
	}
	return err.Error()
}
