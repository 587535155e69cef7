package daemon

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// endWithin is how long a lab may take to end before it is killed; before that, the lab itself stops waiting for its parts.
const endWithin = closeWithin + 5*time.Second

// Down ends the lab in the folder, with everything in it, and removes its files. It reports whether a lab was running.
func (f Folder) Down(ctx context.Context, step func(string)) (ran bool, err error) {
	if info, err := f.Info(); err != nil || info == nil {
		return false, err
	}
	unlock, err := f.lock()
	if err != nil {
		return false, err
	}
	defer unlock()
	info, err := f.Info()
	if err != nil || info == nil {
		return false, err
	}
	if info.Process.inLab() {
		return false, errors.New("this is inside of the lab: leave its shell first")
	}
	process, err := info.Process.open()
	if err != nil {
		return false, err
	}
	if process == nil {
		step("cleaning up after a lab that ended without notice")
		return false, f.clean()
	}
	defer process.Close()
	asking, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	within := endWithin
	if err := f.Client().Down(asking); err != nil {
		step(fmt.Sprintf("the lab does not respond (%v): killing it", err))
		within = 0
	}
	ended, err := wait(process, within)
	if err != nil {
		return true, err
	}
	if !ended {
		if within > 0 {
			step(fmt.Sprintf("the lab did not end within %s: killing it", within))
		}
		if err := kill(process); err != nil {
			return true, err
		}
		if ended, err = wait(process, endWithin); err != nil {
			return true, err
		}
		if !ended {
			return true, fmt.Errorf("process %d of the lab was killed and does not end; in a container that may be because nobody collects ended processes (start it with an init)", info.Process.PID)
		}
	}
	return true, f.clean()
}
