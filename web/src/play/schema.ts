// What the JSON Schema of scenarios says of a place in a file.

export interface Schema {
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string | readonly string[];
  readonly pattern?: string;
  readonly description?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
}

/** The parts of a dotted path; parts with dots stand in quotation marks. */
export function parts(path: string): string[] {
  return [...path.matchAll(/"([^"]*)"|'([^']*)'|([^.\s"']+)/g)].map(([, a, b, c]) => a ?? b ?? c ?? "");
}

/** A schema and all that it may be instead: its reference, and either of several. */
export function forms(root: Schema, schema: Schema | undefined): Schema[] {
  if (schema === undefined) return [];
  const { $ref, anyOf } = schema;
  if ($ref !== undefined) return forms(root, root.$defs?.[$ref.replace("#/$defs/", "")]);
  return anyOf === undefined ? [schema] : [schema, ...anyOf.flatMap((each) => forms(root, each))];
}

const SECTIONS = ["cc", "aqm", "conditioner"];

/** What may stand at a path. `law` names the law whose table the path leads to or into. */
export function at(root: Schema, path: readonly string[], law: string | null): Schema[] {
  let here: Schema[] = [root];
  path.forEach((part, depth) => {
    const section = SECTIONS.includes(part) && law !== null && depth >= path.length - 2;
    const own = section ? root.$defs?.[`${part}.${law}`] : undefined;
    if (own !== undefined) {
      here = [own];
      return;
    }
    here = here.flatMap((schema) => {
      const named = schema.properties?.[part];
      if (named !== undefined) return forms(root, named);
      if (/^\d+$/.test(part) && schema.items !== undefined) return forms(root, schema.items);
      const pattern = Object.entries(schema.patternProperties ?? {}).find(([regex]) => new RegExp(regex).test(part));
      if (pattern !== undefined) return forms(root, pattern[1]);
      return typeof schema.additionalProperties === "object" ? forms(root, schema.additionalProperties) : [];
    });
  });
  return here;
}

/** Keys that may stand in a table, and what each is. */
export function keysOf(root: Schema, schemas: readonly Schema[]): Map<string, string> {
  const found = new Map<string, string>();
  for (const schema of schemas) {
    for (const [key, value] of Object.entries(schema.properties ?? {})) {
      const described = [value, ...forms(root, value)].find(({ description }) => description !== undefined);
      if (!found.has(key)) found.set(key, described?.description ?? "");
    }
  }
  return found;
}

/** Words that may stand as a value, as TOML spells them. */
export function wordsOf(schemas: readonly Schema[]): string[] {
  const words = schemas.flatMap((schema) => {
    if (schema.enum !== undefined) return [...schema.enum];
    if (schema.const !== undefined) return [schema.const];
    return schema.type === "boolean" ? [true, false] : [];
  });
  return [...new Set(words.map((word) => JSON.stringify(word)))];
}

/** An end of a range, and whether it is no value itself. */
export interface End {
  readonly at: number | null;
  readonly open: boolean;
}

/** The range of a plain number. */
export function rangeOf(schemas: readonly Schema[]): readonly [End, End] {
  const number = schemas.find(({ type }) => type === "number" || type === "integer");
  const end = (at: number | undefined, beyond: number | undefined) => ({
    at: at ?? beyond ?? null,
    open: at === undefined,
  });
  return [end(number?.minimum, number?.exclusiveMinimum), end(number?.maximum, number?.exclusiveMaximum)];
}
