package dumptest

import "math/rand/v2"

// What a draw is for: with the seed and a number it fixes the draw, so that
// any row can be made on its own.
const (
	forPlan = iota + 1
	forFranchise
	forShow
	forAliases
	forText
	forOther
	forEpisodes
	forEpisode
	forRelations
)

type dice struct {
	*rand.Rand
	pcg  *rand.PCG
	seed uint64
}

func newDice(seed uint64) *dice {
	pcg := rand.NewPCG(seed, 0)
	return &dice{Rand: rand.New(pcg), pcg: pcg, seed: seed}
}

func (d *dice) reset(purpose, number int) {
	d.pcg.Seed(d.seed, mix(uint64(purpose)<<56^uint64(number)))
}

// permille is true n times in a thousand.
func (d *dice) permille(n int) bool { return d.IntN(1000) < n }

func pick[T any](d *dice, from []T) T { return from[d.IntN(len(from))] }

// mix is the finaliser of SplitMix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
