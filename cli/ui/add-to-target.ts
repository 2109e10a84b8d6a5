import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { applyEdits, modify, parse, type ParseError } from 'jsonc-parser'
import { checkTargetFile } from '../../harness/target-file/check.ts'
import { UserError } from '../../harness/user-error.ts'
import { isObject } from '../../schemas/json-object.ts'
import { writeWhole } from '../output/whole-file.ts'

/** What may be added, without what says where else requests go, and what is run or read on this machine. */
const members: Readonly<Record<string, readonly string[]>> = {
  keys: ['command', 'file'],
  resources: ['upload'],
  operations: ['cleanup'],
  scenarios: ['before', 'after'],
}

/** Whether something can be added to that target file: a module is a program. */
export function takesParts(path: string | undefined): path is string {
  return path !== undefined && extname(path).toLowerCase() === '.json'
}

/**
 * Adds a part to a target file. What is there stays as it is, comments included.
 * @throws UserError if the part is no JSON, holds what is not to be added here, or does not make a right target file.
 */
export async function addToTarget(path: string, part: string): Promise<void> {
  const added = partOf(part)
  const before = readFileSync(path, 'utf8')
  const text = insertInto(before, added, [])
  if (text === before) throw new UserError('The target file declares all of that already.')
  checkTargetFile(parse(text, [], { allowTrailingComma: true }), path)
  await writeWhole(path, text)
}

function partOf(text: string): Record<string, unknown> {
  const errors: ParseError[] = []
  const value: unknown = parse(text, errors, { allowTrailingComma: true })
  if (errors.length > 0 || !isObject(value)) throw new UserError('This is not one object of JSON.')
  const byHand = Object.entries(value).flatMap(([name, of]) => keptOut(name, of))
  if (byHand.length > 0) throw new UserError(`${byHand[0]} is not added here: write it into the target file by hand.`)
  return value
}

const entriesOf = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : [])

function keptOut(name: string, values: unknown): string[] {
  if (!Object.hasOwn(members, name)) return [name]
  return entriesOf(values).flatMap(([at, value]) => {
    const named = entriesOf(value).map(([, one]) => one)
    const keys = [...(name === 'keys' ? [value, ...named] : []), isObject(value) && value.key]
    const wrong = [
      ...members[name]!.filter((one) => isObject(value) && Object.hasOwn(value, one)),
      ...members.keys!.filter((one) => keys.some((key) => isObject(key) && Object.hasOwn(key, one))),
    ]
    return wrong.map((one) => `${name}.${at}.${one}`)
  })
}

/** The text with each member that it does not have; objects that are in both are joined. */
function insertInto(text: string, part: Readonly<Record<string, unknown>>, at: readonly string[]): string {
  return Object.entries(part).reduce((whole, [name, value]) => {
    const path = [...at, name]
    const there = path.reduce<unknown>(
      (of, key) => (isObject(of) && Object.hasOwn(of, key) ? of[key] : undefined),
      parse(whole, [], { allowTrailingComma: true }),
    )
    if (isObject(there) && isObject(value)) return insertInto(whole, value, path)
    if (there !== undefined) return whole
    const edits = modify(whole, path, value, { formattingOptions: { insertSpaces: true, tabSize: 2 } })
    return applyEdits(whole, edits)
  }, text)
}
