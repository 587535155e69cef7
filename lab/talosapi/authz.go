package talosapi

import (
	"maps"
	_ "unsafe" // for go:linkname

	"github.com/siderolabs/talos/pkg/grpc/middleware/authz"
	"github.com/siderolabs/talos/pkg/machinery/api/machine"
	"github.com/siderolabs/talos/pkg/machinery/api/storage"
	"github.com/siderolabs/talos/pkg/machinery/role"

	_ "github.com/siderolabs/talos/internal/app/machined/pkg/system/services" // has the rules
)

// rules says which roles may call what. It is the very table of machined, which
// keeps it to itself: a copy could differ.
//
//go:linkname rules github.com/siderolabs/talos/internal/app/machined/pkg/system/services.rules
var rules map[string]role.Set

// authorizer lets in whom machined lets in.
func (n *node) authorizer() *authz.Authorizer {
	allowed := rules
	if n.old {
		// Readers may since 1.13, where these also serve maintenance.
		allowed = maps.Clone(rules)
		allowed[machine.MachineService_ApplyConfiguration_FullMethodName] = role.MakeSet(role.Admin)
		allowed[storage.StorageService_BlockDeviceWipe_FullMethodName] = role.MakeSet(role.Admin)
	}
	return &authz.Authorizer{Rules: allowed, FallbackRoles: role.MakeSet(role.Admin)}
}
