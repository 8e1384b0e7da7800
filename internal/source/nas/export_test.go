package nas

import (
	"context"
	"path/filepath"
)

// Use reads the library at path as a Keeper does, and calls then with the number of its plays
// before it is closed: once more for each time that it is read anew.
func Use(ctx context.Context, path, folder string, then func(plays int)) (Handling, error) {
	return place{path: path, own: filepath.Join(folder, "none"), temp: folder}.use(ctx, func(ctx context.Context, lib *library) error {
		return lib.look(ctx, func(v view) error {
			plays, err := v.plays(ctx, window{}, position{at: -1})
			then(len(plays))
			return err
		})
	})
}

// Round does what Run does at one look.
func (k *Keeper) Round(ctx context.Context) error {
	_, err := k.round(ctx)
	return err
}

// Hold does as if somebody read the library until release is called.
func (k *Keeper) Hold() (release func()) {
	k.reading <- struct{}{}
	return func() { <-k.reading }
}
