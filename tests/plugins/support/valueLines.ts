// The list of a chart's values, from the schema in the chart.

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

/** Maps whose keys are Kubernetes' or the user's own: the schema has only the keys that the chart sets by default. */
const open =
  /^(nodeSelector|affinity|\w+Affinity|tolerations|resources|securityContext|podSecurityContext|updateStrategy|strategy|labelSelector|\w*[lL]abels|\w*[aA]nnotations)$/;

const typeNames: Readonly<Record<string, string>> = { object: "map", array: "list" };

/** As in components/platform/ciliumValues.txt. */
export function valueLines(schema: Schema, path: readonly string[] = []): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, below]) => {
    const own = [...path, key];
    const isOpen = open.test(key) || Object.keys(below.properties ?? {}).length === 0;
    return isOpen ? [`${own.join(".")} ${typesOf(below).join("|")}`] : valueLines(below, own);
  });
}

function typesOf({ type }: Schema): string[] {
  if (type === undefined) return ["any"];
  const types = [type].flat().filter((name) => name !== "null");
  // What is nothing by default may be anything.
  return types.length === 0 ? ["any"] : types.map((name) => typeNames[name] ?? name);
}
