import { codeNames } from '../../catalogue/errors.ts'
import type { Pairs } from '../engine/pairs.ts'

/** Something over a limit: §7.3 names the parameter, §7.2 and §8 the size of the body. */
export const oversized: Pairs = [
  [400, 'InvalidInputParameters'],
  [413, 'BadRequest', 'PayloadTooLarge'],
]

/** 400 with any of its code names: where the spec shows the member, but no error of it. */
export const anyBadRequest: Pairs = [[400, ...(codeNames(400) ?? [])]]

export const forbidden: Pairs = [[403, 'InsufficientAccessRights']]
export const unavailable: Pairs = [[503, 'InternalError']]
export const badRequest: Pairs = [[400, 'BadRequest']]
export const invalidInput: Pairs = [[400, 'InvalidInputParameters']]
export const invalidContent: Pairs = [[400, 'InvalidContentType']]
export const notFound: Pairs = [[404, 'ResourceNotFound']]

/** A model error of §7.4: its status is not said. */
export function modelError(tpe: string): Pairs {
  return [['any', tpe]]
}
