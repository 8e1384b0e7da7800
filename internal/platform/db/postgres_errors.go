package db

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"watchmark/internal/platform/reason"
)

// SQLSTATE codes (PostgreSQL's manual, appendix A) that are dealt with one by one.
const (
	divisionByZero        = "22012"
	idleInTransaction     = "25P03"
	noAuthorization       = "28000" // pg_hba.conf refuses
	wrongPassword         = "28P01"
	noDatabase            = "3D000"
	noPrivilege           = "42501"
	tableExists           = "42P07"
	diskFull              = "53100"
	tooManyConnections    = "53300"
	lockNotAvailable      = "55P03"
	queryCanceled         = "57014" // by statement_timeout
	protocolViolation     = "08P01"
	readOnlyTransaction   = "25006"
	serializationFailure  = "40001"
	deadlockDetected      = "40P01"
	unknownStatement      = "26000" // of a pooler that keeps none
	statementExists       = "42P05"
	featureNotSupported   = "0A000" // a prepared statement whose columns have changed
	connectionClass       = "08"
	resourcesClass        = "53"
	interventionClass     = "57" // a server that stops or starts, and a statement that took too long
	systemErrorClass      = "58" // the disk of the server
	dataCorruptedSQLState = "XX001"
	indexCorrupted        = "XX002"
)

var errRolledBack = errors.New("the transaction was rolled back")

// serverFailure is an error of the server or the way to it: trying again later may help. It is ErrStorage to those who branch
// on it.
type serverFailure struct {
	cause error
	again bool // nothing was committed, and nobody was answered
}

func (f *serverFailure) Error() string         { return f.kind().Error() + " (" + f.cause.Error() + ")" }
func (f *serverFailure) Reason() reason.Reason { return f.kind().With() }
func (f *serverFailure) Is(target error) bool  { return target == ErrStorage }
func (f *serverFailure) Unwrap() error         { return f.cause }

// kind says what to do about the failure.
func (f *serverFailure) kind() *reason.Kind {
	var answer *pgconn.PgError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.As(f.cause, &answer):
		if kind := advice[answer.Code]; kind != nil {
			return kind
		}
	case errors.As(f.cause, &certificate):
		return errCertificate
	case strings.Contains(f.cause.Error(), "server refused TLS connection"): // of pgconn, which has no value for it
		return errNoTLS
	}
	return errServer
}

// advice is what is said about a failure, by its code, where that tells more than that the server fails.
var advice = map[string]*reason.Kind{
	wrongPassword: errLogin, noAuthorization: errLogin, noDatabase: errNoDatabase, noPrivilege: errRights, tooManyConnections: errConnections,
	diskFull: errServerDisk, readOnlyTransaction: errReadOnly, queryCanceled: errSlow, lockNotAvailable: errSlow,
	unknownStatement: errPooler, statementExists: errPooler,
}

// Problem is what keeps a database server from being used, in words that may be shown to everybody; empty for another error.
func Problem(err error) string {
	var failure *serverFailure
	if !errors.As(err, &failure) {
		return ""
	}
	return failure.kind().Error()
}

// again reports whether a write that came to nothing may be begun anew at once.
func again(err error) bool {
	var failure *serverFailure
	return errors.As(err, &failure) && failure.again
}

// failed says what an error of the server or the network means.
func failed(ctx context.Context, err error) error {
	var failure *serverFailure
	var answer *pgconn.PgError
	switch {
	case err == nil || errors.As(err, &failure):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%w (%w)", context.Cause(ctx), err)
	case !errors.As(err, &answer):
		return &serverFailure{cause: err} // the connection
	}
	switch answer.Code {
	case serializationFailure, deadlockDetected:
		return &serverFailure{cause: err, again: true}
	case readOnlyTransaction, lockNotAvailable, idleInTransaction, noPrivilege:
		return &serverFailure{cause: err}
	case dataCorruptedSQLState, indexCorrupted:
		return fmt.Errorf("%w (%w)", ErrDamaged, err)
	}
	switch answer.Code[:2] {
	case connectionClass, resourcesClass, interventionClass, systemErrorClass:
		return &serverFailure{cause: err}
	}
	return err
}

// explain says what an error of a call means for those who wait for it. fresh says that the transaction has begun with the message
// that the call was in, and does not end with it.
func (c *serverConn) explain(ctx context.Context, err error, of call, fresh bool) error {
	var answer *pgconn.PgError
	lost := !errors.As(err, &answer) || answer.SeverityUnlocalized == "FATAL" // with which the server ends the connection
	if lost {
		c.dial.suspect.Store(time.Now().UnixNano())
	} else {
		switch answer.Code {
		case divisionByZero:
			if of.fence {
				return ErrEvicted
			}
		case unknownStatement, statementExists, featureNotSupported:
			_ = c.pg.Conn().Close() // its statements are not what it takes them for: another connection has its own
			return &serverFailure{cause: err, again: fresh}
		}
	}
	err = failed(ctx, err)
	var failure *serverFailure
	if lost && fresh && errors.As(err, &failure) {
		failure.again = true
	}
	if of.plan != nil {
		return fmt.Errorf("%w (%s)", err, shortened(of.plan.text))
	}
	return err
}
