package web

import (
	"fmt"
	"path/filepath"

	"watchmark/internal/upkeep/backup"
)

// backupsPage shows the state of the backups and lists them.
type backupsPage struct {
	backup.Status
	Display display
	// Command restores the newest one, or makes one where the service does not.
	Command string
	// Open is set where sign-in is turned off; backups cannot be downloaded then.
	Open bool
}

func (g Settings) backups(r *request) (content, error) {
	status := g.Backups()
	page := backupsPage{Status: status, Display: backupsDisplay(status), Open: r.viewer.Name == "", Command: "watchmark restore FILE --data DIR"}
	if status.OnServer {
		page.Command = "watchmark backup FILE --data DIR"
		return content{Data: page}, nil
	}
	if len(status.Items) > 0 {
		page.Command = fmt.Sprintf("watchmark restore %q --data DIR", filepath.Join(status.Dir, status.Items[0].Name))
	}
	return content{Data: page}, nil
}

// backupsDisplay shows the state of the backups.
func backupsDisplay(s backup.Status) display {
	switch {
	case s.OnServer:
		return display{"quiet", "power", "backups.is.on_server"}
	case s.Running:
		return display{"busy", "loader", "backups.is.running"}
	case !s.LastError.IsZero():
		return display{"bad", "circle-x", "backups.is.failed"}
	case s.NextRun == nil:
		return display{"quiet", "power", "backups.is.off"}
	case len(s.Items) == 0:
		return display{"quiet", "hourglass", "backups.is.planned"}
	}
	return display{"good", "circle-check", "backups.is.good"}
}

// megabytes formats a number of bytes.
func megabytes(bytes int64) string {
	if bytes < 10e6 {
		return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
	}
	return fmt.Sprintf("%d MB", bytes/1e6)
}
