package storage

import (
	"regexp"
	"strconv"
)

var size = regexp.MustCompile(`^(\d+(?:\.\d+)?)([KMGT]?)$`)

// PrintSize writes a size as configurations have it.
func PrintSize(bytes int64) string {
	for _, unit := range []struct {
		bytes int64
		name  string
	}{{1 << 40, "T"}, {1 << 30, "G"}, {1 << 20, "M"}, {1 << 10, "K"}} {
		if bytes >= unit.bytes && bytes%unit.bytes == 0 {
			return strconv.FormatInt(bytes/unit.bytes, 10) + unit.name
		}
	}
	return strconv.FormatInt(bytes, 10)
}

// ParseSize reads a size, in bytes if there is no unit.
func ParseSize(text string) (int64, bool) {
	match := size.FindStringSubmatch(text)
	if match == nil {
		return 0, false
	}
	number, _ := strconv.ParseFloat(match[1], 64) // the pattern allows digits only
	return int64(number * float64(map[string]int64{"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}[match[2]])), true
}
