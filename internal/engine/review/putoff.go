package review

import (
	"context"
	"database/sql"

	"watchmark/internal/record"
)

// PutOff is Store.Delete, which closes what people were told of the question, too: it is asked anew with the next event of its title.
func (s *Service) PutOff(ctx context.Context, id int64, seen string) error {
	var waiting []int64
	err := s.Engine.DB.Write(ctx, func(ctx context.Context, tx *sql.Tx) (err error) {
		waiting, err = record.AwaitingTx(ctx, tx, id)
		return err
	})
	if err != nil {
		return err
	}
	if err := s.Questions.Delete(ctx, id, seen); err != nil {
		return err
	}
	return s.Engine.CloseAsked(ctx, waiting)
}
