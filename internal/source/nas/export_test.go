package nas

import (
	"context"
	"path/filepath"
)

// Use reads the library at path as a Reader does, and calls then with the number of its plays
// before it is closed: once more for each time that it is read anew.
func Use(ctx context.Context, path, folder string, then func(plays int)) (Handling, error) {
	return place{path: path, own: filepath.Join(folder, "none"), temp: folder}.use(ctx, func(ctx context.Context, lib *library) error {
		return lib.inTx(ctx, func(v view) error {
			plays, err := v.plays(ctx, window{}, position{at: -1})
			then(len(plays))
			return err
		})
	})
}

// Round is one look, and the run that it may lead to, before Round returns.
func (k *Reader) Round(ctx context.Context) error {
	due, err := k.followSettings(ctx)
	if due {
		_, _, _ = k.Sync(ctx, Manual{}) // its failure is kept
	}
	return err
}

// Hold does as if somebody read the library until release is called.
func (k *Reader) Hold() (release func()) {
	k.reading <- struct{}{}
	return func() { <-k.reading }
}
