/** A part of the document. */
export type Json = Readonly<Record<string, unknown>>

/** The schema of that name among the components. */
export function ref(name: string): Json {
  return { $ref: `#/components/schemas/${name}` }
}
