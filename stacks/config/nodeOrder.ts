/**
 * Control planes first, so that a mistake shows before workers are changed, then by name. The order of the list has no meaning, so nothing may depend on it:
 * neither which gates run again, nor which control plane is the first.
 */
export function inOrder<Node extends { readonly name: string; readonly role: string }>(nodes: readonly Node[]): Node[] {
  const place = ({ role, name }: Node) => `${role} ${name}`;
  return nodes.toSorted((a, b) => (place(a) < place(b) ? -1 : 1));
}
