declare const fits: unique symbol
/** A JSON Schema, and in its type the values that fit it. */
export interface Schema<T = unknown> {
  readonly [fits]?: T
  readonly [keyword: string]: unknown
}

/** The values that fit a schema. */
export type Fitting<S> = S extends Schema<infer T> ? T : never

/**
 * An object with the members of `T` and no other: it does not compile if one is missing here, or is none of the type.
 * @param optional members that may be absent; all others are required
 */
export function closed<T>(
  properties: { readonly [name in keyof Required<T>]: Schema },
  optional: readonly (keyof T)[] = [],
): Schema<T> {
  const required = Object.keys(properties).filter((name) => !optional.includes(name as keyof T))
  return { type: 'object', additionalProperties: false, required, properties }
}

type Members = Readonly<Record<string, Schema>>
type FittingEach<M> = { -readonly [name in keyof M]: Fitting<M[name]> }

/** An object with those members, and no other. */
export function object<R extends Members, O extends Members = Record<never, Schema>>(required: R, optional?: O) {
  type Value = FittingEach<R> & Partial<FittingEach<O>>
  const names = Object.keys({ ...required, ...optional }) as (keyof Value)[]
  const properties = { ...required, ...optional } as unknown as { [name in keyof Required<Value>]: Schema }
  return closed<{ [name in keyof Value]: Value[name] }>(
    properties,
    names.filter((name) => !(name in required)),
  )
}

export const listOf = <T>(items: Schema<T>): Schema<T[]> => ({ type: 'array', items })
export const defined = <T>(name: string): Schema<T> => ({ $ref: `#/$defs/${name}` })
/** The schema with what it is for, which an editor shows. */
export const described = <T>(description: string, schema: Schema<T>): Schema<T> => ({ description, ...schema })
/** Values of which one of the schemas alone holds. */
export const either = <S extends readonly Schema[]>(...schemas: S): Schema<Fitting<S[number]>> => ({ oneOf: schemas })
export const orNull = <T>(schema: Schema<T>): Schema<T | null> => ({ ...schema, type: [schema['type'], 'null'] })

export const text: Schema<string> = { type: 'string' }
export const textOrNull: Schema<string | null> = orNull(text)
export const flag: Schema<boolean> = { type: 'boolean' }
export const integer: Schema<number> = { type: 'integer' }
export const oneOf = <const V extends string | number>(...values: readonly V[]): Schema<V> => ({ enum: values })
