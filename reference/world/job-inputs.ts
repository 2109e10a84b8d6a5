import { isMembers, jsonType, type Call } from './call.ts'

/** What is wrong with an item of `inputs`, if anything is (§2.5). */
function faultOf(item: unknown): string | undefined {
  if (!isMembers(item)) return 'item'
  if (item['id'] === undefined) return 'no-id'
  if (typeof item['id'] !== 'string') return 'id'
  if (item['value'] === undefined) return 'no-value'
  if (!Array.isArray(item['value'])) return 'value'
  return item['value'].every((text) => typeof text === 'string') ? undefined : 'text'
}

/** A fault of the body itself or of an item, which may also count as invalid input. */
export function refuseItems(call: Call, kind: string): never {
  call.refuse('400-malformed-inputs', 400, 'BadRequest', { at: 'items', kind })
}

/** Whether a broken server leaves an item out instead of refusing it: it looks at the first alone, or accepts that JSON type. */
function isIgnored(call: Call, item: unknown, at: number): boolean {
  if (at > 0 && call.broken('400-malformed-inputs#ignores-later-items') && faultOf(item) !== undefined) return true
  const place = isMembers(item) ? `id-${jsonType(item['id'])}` : `item-${jsonType(item)}`
  return call.broken(`400-malformed-inputs#ignores-${place}`)
}

/** The item as a broken server sees it that looks at the first text of a value alone. */
function withoutLaterFaults(call: Call, item: unknown): unknown {
  if (!call.broken('400-malformed-inputs#ignores-later-texts')) return item
  if (!isMembers(item) || !Array.isArray(item['value'])) return item
  return { ...item, value: item['value'].filter((text, at) => at === 0 || typeof text === 'string') }
}

/** Checks `inputs` by themselves, whatever the application asks for. */
export function checkInputs(call: Call): void {
  const { inputs } = call.body
  if (inputs === undefined) call.refuse('400-missing-inputs', 400, 'InvalidInputParameters')
  if (inputs === null) refuseItems(call, 'null')
  if (!Array.isArray(inputs)) call.refuse('400-malformed-inputs', 400, 'BadRequest', { kind: jsonType(inputs) })
  const looked = inputs.filter((item, at) => !isIgnored(call, item, at)).map((item) => withoutLaterFaults(call, item))
  const fault = looked.map(faultOf).find((each) => each !== undefined)
  if (fault !== undefined) refuseItems(call, fault)
  call.body = { ...call.body, inputs: looked }
}

/** Characters of a text, if a server limits what an input may hold. */
const longest = 500

/** Values that an input may have if there is a choice of them. */
const known = new Set(['tea', 'calm'])

/** Texts that a broken server trips over, by variant of the defect `jobs.create/202-any-text`. */
const stumblingBlocks: Readonly<Record<string, (text: string) => boolean>> = {
  '': (text) => /[^A-Za-z0-9 ]/.test(text),
  '#emoji': (text) => /\p{Emoji_Presentation}/u.test(text),
  '#nul': (text) => text.includes('\0'),
  '#backslash': (text) => text.includes('\\'),
  '#empty': (text) => text === '',
  '#blank': (text) => text !== text.trim() && text.trim() !== '',
}

function isBeyondLimits(text: string): boolean {
  return text.length > longest || /(?![\t\n\r])\p{Cc}/u.test(text)
}

/** Checks the texts of the inputs. The interface names no limit (§2.5), and no text may bring the server down. */
export function checkTexts(call: Call): void {
  const texts = (call.body['inputs'] as readonly { value: readonly string[] }[]).flatMap(({ value }) => value)
  const [name, trips] = Object.entries(stumblingBlocks).find(([each]) => call.broken(`202-any-text${each}`)) ?? ['']
  // The narrower defects are those of a server with limits: a text that it refuses may hide one that it cannot take.
  const limited = call.varied('jobs/texts-limited') || name !== ''
  if (limited && texts.some((text) => isBeyondLimits(text) && !trips?.(text))) {
    call.reject(400, 'BadRequest', `A text has up to ${longest} characters, none of which controls anything`)
  }
  if (call.varied('jobs/values-limited') && texts.some((text) => !known.has(text))) {
    call.reject(400, 'InvalidInputParameters', 'There is no such choice')
  }
  if (trips && texts.some(trips)) throw new Error('a text that this server cannot take')
}
