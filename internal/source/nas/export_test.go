package nas

import "context"

// Round does what Run does at one look.
func (k *Keeper) Round(ctx context.Context) error {
	_, err := k.round(ctx)
	return err
}

// Clean does what Run does first.
func (k *Keeper) Clean() { k.clean() }
