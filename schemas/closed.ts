declare const fits: unique symbol
/** A JSON Schema whose type is that of the values that fit it. */
export interface Schema<T = unknown> {
  readonly [fits]?: T
  readonly [keyword: string]: unknown
}

export type Fitting<S> = S extends Schema<infer T> ? T : never

type Members = Readonly<Record<string, Schema>>
type FittingEach<M> = { -readonly [name in keyof M]: Fitting<M[name]> }

/**
 * A closed object with those members.
 * @param optional members that may be absent
 */
export function object<R extends Members, O extends Members = Record<never, Schema>>(
  required: R,
  optional?: O,
) {
  type Value = FittingEach<R> & Partial<FittingEach<O>>
  const properties = { ...required, ...optional }
  const names = Object.keys(required)
  const schema: Schema<{ [name in keyof Value]: Value[name] }> = {
    type: 'object',
    additionalProperties: false,
    ...(names.length > 0 && { required: names }),
    properties,
  }
  return schema
}

export const listOf = <T>(items: Schema<T>): Schema<T[]> => ({ type: 'array', items })
export const defined = <T>(name: string): Schema<T> => ({ $ref: `#/$defs/${name}` })
export const described = <T>(description: string, schema: Schema<T>): Schema<T> => ({
  description,
  ...schema,
})
export const either = <S extends readonly Schema[]>(...schemas: S): Schema<Fitting<S[number]>> => ({
  oneOf: schemas,
})
export const orNull = <T>(schema: Schema<T>): Schema<T | null> => ({
  ...schema,
  type: [schema['type'], 'null'],
})

export const text: Schema<string> = { type: 'string' }
export const textOrNull: Schema<string | null> = orNull(text)
export const flag: Schema<boolean> = { type: 'boolean' }
export const always: Schema<true> = { const: true }
export const integer: Schema<number> = { type: 'integer' }
export const oneOf = <const V extends string | number>(...values: readonly V[]): Schema<V> => ({
  enum: values,
})
