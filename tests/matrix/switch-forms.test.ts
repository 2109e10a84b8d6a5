import { expect, test } from 'vitest'
import { isRefusal, type Pairs, pairsOf } from '../../catalogue/expected.ts'
import { catalogue } from '../../catalogue/catalogue.ts'
import { codeNames } from '../../catalogue/errors.ts'
import { isOperationId, type OperationId } from '../../catalogue/operations.ts'
import { defects, variants } from '../../reference/server.ts'
import target from '../../fixtures/reference.target.json' with { type: 'json' }

const scenarios = target.scenarios as Readonly<
  Record<string, { readonly operation?: string; readonly headers?: object } | undefined>
>

/** Refusals with the pairs that answer them, of the operation that the reference's scenario names. */
const refusals = catalogue.flatMap((row) => {
  const operation = isOperationId(row.operation) ? row.operation : scenarios[row.id]?.operation
  if (!isRefusal(row.expects) || operation === undefined) return []
  return [{ id: row.id, pairs: pairsOf(row, operation as OperationId) }]
})

const spelled = (pairs: Pairs): string[] =>
  pairs.flatMap(([status, ...names]) =>
    typeof status === 'number' ? names.map((name) => `${status}-${name}`) : [],
  )

/** Variants `<id>=<status>-<tpe>`, `*` for any operation, `@...` for one of the faults: the pairs of one requirement. */
function alternativesOf(id: string): string[] {
  const anywhere = `*/${id.slice(id.indexOf('/') + 1)}`
  return variants.flatMap((variant) => {
    const [of = '', pair] = variant.split('=')
    const own = of.replace(/@.*/, '')
    return pair !== undefined && [id, anywhere].includes(own) ? [pair] : []
  })
}

test('for each pair that answers a requirement there is a reference that answers it', () => {
  const missing = refusals.flatMap(({ id, pairs }) => {
    // One of them is what the reference usually answers.
    const others = spelled(pairs).filter((pair) => !alternativesOf(id).includes(pair))
    return others.length > 1 ? [`${id}: ${others.join(' or ')}`] : []
  })
  expect(missing).toEqual([])
})

test('no variant answers what no requirement accepts', () => {
  const named = refusals.filter(({ pairs }) =>
    pairs.every(([status]) => typeof status === 'number'),
  )
  const wrong = named.flatMap(({ id, pairs }) =>
    alternativesOf(id)
      .filter((pair) => !spelled(pairs).includes(pair))
      .map((pair) => `${id}=${pair}`),
  )
  expect(wrong).toEqual(
    wrong.filter((variant) => variant.startsWith('completion.create/400-malformed-request=')),
  )
})

test('a name that a requirement does not accept is a switch', () => {
  const exacting = refusals.filter(({ pairs }) =>
    pairs.every(
      ([status, ...names]) =>
        typeof status === 'number' &&
        names.length > 0 &&
        !codeNames(status)?.every((name) => names.includes(name)),
    ),
  )
  expect(exacting.length).toBeGreaterThan(150)
  // Concurrent creations are refused as those beside a job, or of what exists, are.
  const without = exacting.filter(({ id }) => !defects.includes(`${id}#tpe`)).map(({ id }) => id)
  expect(without).toEqual([
    'jobs.create/409-atomic',
    'graphs.create/400-atomic',
    'applications.create/400-atomic',
  ])
})
