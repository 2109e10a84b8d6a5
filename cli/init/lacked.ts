import { operations } from '../../catalogue/operations.ts'
import type { Step } from '../../reporters/view/to-declare.ts'
import { isObject } from '../../schemas/json-object.ts'
import type { Answers } from './answers.ts'
import { block, type Block, type Comment } from './block.ts'

/** The blocks of a file that says what a run lacked, by steps: in comments, but for what the run knew. */
export function lackedBlocks({ keyVariable, notServed }: Answers, steps: readonly Step[]): Block[] {
  const absent = Object.fromEntries(notServed.map((id) => [id, 'not-served']))
  const all = [
    block('keys', { full: { env: keyVariable } }, [
      'In comments: what the run lacked, and how many more requirements each lets be tested. Uncomment what your server has,',
      'and fill in what stands in angle brackets. What the run had declared is not in its report.',
    ]),
    block('resources', {}, ['What the target holds.']),
    block('operations', absent, [
      'Requests that are known to succeed, or "not-served" for what your server does not have.',
    ]),
    block('scenarios', {}, ['How to bring about a condition that no client can cause by itself.']),
  ]
  return all
    .map((one) => ({ ...one, comments: commentsOf(one.name, steps, notServed) }))
    .filter(({ comments, value }) => comments.length > 0 || Object.keys(value as object).length > 0)
}

function commentsOf(name: string, steps: readonly Step[], notServed: readonly string[]): Comment[] {
  const lacked = steps.flatMap((step) => commentOf(name, step))
  if (name !== 'operations') return lacked
  return operations
    .filter(({ id }) => !notServed.includes(id))
    .flatMap(({ id }) => {
      const [usual = { about: 'No request has to be declared.', members: [] }, ...extended] = lacked.filter(
        ({ members }) => members.some(([operation]) => operation === id),
      )
      return [{ ...usual, members: [...usual.members, [id, 'not-served'] as const] }, ...extended]
    })
}

/** What a step wants of that member of the file. */
function commentOf(name: string, { example, ids, names }: Step): Comment[] {
  const values = example[name]
  if (!isObject(values)) return []
  const own = new Set(Object.keys(values).map((key) => `${name}.${key}`))
  const others = name === 'scenarios' ? [] : names.filter((one) => !own.has(one))
  const besides = others.length > 0 ? `, with ${others.join(' and ')}` : ''
  return [{ about: `+${ids.length}${besides}`, members: Object.entries(values) }]
}
