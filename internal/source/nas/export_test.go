package nas

import "context"

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

// Clean does what Run does first.
func (k *Keeper) Clean() { k.clean() }
