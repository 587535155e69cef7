package hetzner

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// rateLimit lets so many requests through in an hour; what was used comes back
// little by little.
type rateLimit struct {
	hourly int
	left   float64
	at     time.Time
}

func newRateLimit(hourly int, at time.Time) *rateLimit {
	return &rateLimit{hourly: hourly, left: float64(hourly), at: at}
}

// take counts a request, and says whether it may pass.
func (l *rateLimit) take(at time.Time) bool {
	l.left = min(float64(l.hourly), l.left+l.perSecond()*at.Sub(l.at).Seconds())
	l.at = at
	if l.left < 1 {
		return false
	}
	l.left--
	return true
}

func (l *rateLimit) perSecond() float64 { return float64(l.hourly) / 3600 }

// tell writes what is left into an answer's headers.
func (l *rateLimit) tell(header http.Header) {
	missing := (float64(l.hourly) - math.Floor(l.left)) / l.perSecond()
	header.Set("RateLimit-Limit", strconv.Itoa(l.hourly))
	header.Set("RateLimit-Remaining", strconv.Itoa(int(l.left)))
	header.Set("RateLimit-Reset", strconv.FormatInt(l.at.Unix()+int64(math.Ceil(missing)), 10))
}
