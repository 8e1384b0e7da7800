package app

import (
	"fmt"

	"watchmark/internal/source/device"
)

// buildDevice makes what asks the TV boxes.
func (a *App) buildDevice(o Options) error {
	a.plays = device.NewStore(a.db)
	var err error
	a.device, err = device.NewWatcher(device.WatcherConfig{
		Store: a.plays, Take: a.engine.Take, Tasks: a.tasks, Masker: a.masker, Log: a.log, Loopback: o.LocalDevices,
		Config: func() device.Config {
			s := a.Settings.Current().Device
			return device.Config{
				Enabled: s.Enabled, Addresses: s.Addresses, Subnets: s.Subnets, ScanEvery: s.ScanEvery,
				Threshold: float64(s.MinPercent) / 100,
			}
		},
	})
	if err != nil {
		return fmt.Errorf("build what asks the TV boxes: %w", err)
	}
	return nil
}
