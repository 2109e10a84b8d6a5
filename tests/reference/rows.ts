import type { Change } from './client.ts'

/** A requirement on a refusal: the change that brings it about, and the pairs `status tpe` that it accepts. */
export type Row = readonly [id: string, change: Change | 'scenario', ...pairs: string[]]

export const bad = '400 BadRequest'
export const invalid = '400 InvalidInputParameters'
export const content = '400 InvalidContentType'
export const rights = '403 InsufficientAccessRights'
export const unsupportedModel = ['404 ResourceNotFound', '404 NotFound']
/** Every name of a 400. */
export const names = [bad, invalid, content]
/** Pairs that answer a thing that is too large. */
export const size = [invalid, '413 BadRequest', '413 PayloadTooLarge', '413 InvalidInputParameters']

/** The very same request two times. */
export const twice = (row: Row): readonly Row[] => [row, row]

/** One row for each value. */
export function each(
  id: string,
  values: readonly unknown[] | undefined,
  change: (value: unknown) => Change,
  ...pairs: string[]
): readonly Row[] {
  return (values ?? []).map((value): Row => [id, change(value), ...pairs])
}
