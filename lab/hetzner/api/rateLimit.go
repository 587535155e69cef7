package api

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// RateLimit allows a number of requests per hour. Used requests become available again evenly.
type RateLimit struct {
	Hourly int
	left   float64
	at     time.Time
}

// NewRateLimit returns an unused limit.
func NewRateLimit(hourly int, at time.Time) *RateLimit {
	return &RateLimit{Hourly: hourly, left: float64(hourly), at: at}
}

// Take counts a request and reports whether it is allowed.
func (l *RateLimit) Take(at time.Time) bool {
	l.left = min(float64(l.Hourly), l.left+l.perSecond()*at.Sub(l.at).Seconds())
	l.at = at
	if l.left < 1 {
		return false
	}
	l.left--
	return true
}

func (l *RateLimit) perSecond() float64 { return float64(l.Hourly) / 3600 }

// Report writes the remaining requests into the headers of an answer.
func (l *RateLimit) Report(header http.Header) {
	missing := (float64(l.Hourly) - math.Floor(l.left)) / l.perSecond()
	header.Set("RateLimit-Limit", strconv.Itoa(l.Hourly))
	header.Set("RateLimit-Remaining", strconv.Itoa(int(l.left)))
	header.Set("RateLimit-Reset", strconv.FormatInt(l.at.Unix()+int64(math.Ceil(missing)), 10))
}
