/** A resource on a platform that carries a cluster's mark, described as the program creates it. */
export interface CreatedResource {
  /** The engine's type: `<package>:<module>:<Type>`. */
  readonly type: string;
  /** The type of the component that it is made by, where that is not that of `CreatedResources`. */
  readonly component?: string;
  /** Its name in the program, after that of its component: `cp-1`. */
  readonly part: string;
  /** The id that the engine's plugin uses. */
  readonly id: string;
  /** The id for the plugin's import, if that is different. */
  readonly importId?: string;
  /** Its name in messages: "server home-cp-1 (id 42)". */
  readonly title: string;
  /** When it was created; undefined if the platform does not report it. */
  readonly created?: string | undefined;
  /** Whether it contains all others and its name is unique in a project, so that everything in it belongs to one cluster. */
  readonly isRoot: boolean;
  /** Whether something else depends on it, as machines do on a network. */
  readonly isUsed: boolean;
  /** The resource that contains it: both belong to the same cluster. */
  readonly within: readonly ResourceKey[];
  /** The resources that it uses, which are deleted after it. */
  readonly uses?: readonly ResourceKey[];
  /** Whether it carries no mark itself: then someone else may have created it inside a resource of the cluster. */
  readonly isUnmarked?: boolean;
  /** Whether its creation did not complete, it is empty, and the plugin's update would not complete it. */
  readonly isUnfinished?: boolean;
  /** Whether its plugin creates it again over what is there, and an adopted one would be in its way: then only a `destroy` needs it in the state. */
  readonly isOverwritten?: boolean;
  /** How a user deletes it. */
  readonly removal: string;
}

/** Identifies a resource, in the state and on the platform. */
export type ResourceKey = string;

export function keyOf({ type, id }: { readonly type: string; readonly id: string }): ResourceKey {
  return `${type} ${id}`;
}

/** Everything that a platform has of a cluster. */
export interface CreatedResources {
  /** The type of the component that creates them. */
  readonly component: string;
  readonly resources: readonly CreatedResource[];
  /** Resources of others that keep the cluster's own from being deleted, for messages, each with the command that deletes it. */
  readonly blockers: readonly Pick<CreatedResource, "title" | "removal">[];
}
