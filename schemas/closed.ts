export type Schema = Readonly<Record<string, unknown>>

/**
 * An object with the members of `T` and no other: it does not compile if one is missing here, or is none of the type.
 * @param optional members that may be absent; all others are required
 */
export function closed<T>(
  properties: { readonly [name in keyof Required<T>]: Schema },
  optional: readonly (keyof T)[] = [],
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name as keyof T))
  return { type: 'object', additionalProperties: false, required, properties }
}

export const listOf = (items: Schema): Schema => ({ type: 'array', items })
export const defined = (name: string): Schema => ({ $ref: `#/$defs/${name}` })
/** The schema with what it is for, which an editor shows. */
export const described = (description: string, schema: Schema): Schema => ({ description, ...schema })

export const text: Schema = { type: 'string' }
export const textOrNull: Schema = { type: ['string', 'null'] }
export const flag: Schema = { type: 'boolean' }
export const oneOf = (...values: readonly (string | number)[]): Schema => ({ enum: values })
