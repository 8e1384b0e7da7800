package faults

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// rawClient is one keep-alive connection that sends prepared requests. It does as little as
// possible: client and service share the processors, and it is the service that is measured.
type rawClient struct {
	conn net.Conn
	in   *bufio.Reader
}

// dialRaw connects to host:port.
func dialRaw(address string) (*rawClient, error) {
	conn, err := net.DialTimeout("tcp", address, patience)
	if err != nil {
		return nil, err
	}
	return &rawClient{conn, bufio.NewReader(conn)}, conn.SetDeadline(time.Now().Add(5 * patience))
}

// prepare is a webhook as it goes over the line.
func prepare(address string, e event) []byte {
	body := e.body()
	return append(fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		webhookPath, address, len(body)), body...)
}

// send sends a prepared request and answers the status; the body of the answer is passed over.
func (c *rawClient) send(request []byte) (status int, err error) {
	if _, err := c.conn.Write(request); err != nil {
		return 0, err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, fmt.Errorf("no status in %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length, err := c.passHeader()
	if err != nil {
		return 0, err
	}
	_, err = c.in.Discard(length)
	return status, err
}

// passHeader reads the header to its end and answers the length of the body.
func (c *rawClient) passHeader() (length int, err error) {
	length = -1
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= len("\r\n") {
			break
		}
		name, value, _ := strings.Cut(string(line), ":")
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("an answer without Content-Length: %w", io.ErrUnexpectedEOF)
	}
	return length, nil
}

func (c *rawClient) close() { _ = c.conn.Close() } // nothing is under way any more
