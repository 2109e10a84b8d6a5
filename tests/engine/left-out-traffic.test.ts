import { expect, test } from 'vitest'
import target from '../../fixtures/reference.target.json' with { type: 'json' }
import { answered, headerOf, isGranted, judge, overConnections, via } from './networks.ts'

const full = { name: 'authorization', value: `Bearer ${target.keys.full}` }

test('a creation without a key that was only sent for envelope/ is served: that row was left out', async () => {
  let served = 0
  const network = via(async (request, send) => {
    const isKeyless = headerOf(request, 'authorization') === undefined
    if (!isKeyless || request.method !== 'POST' || !request.path.includes('/jobs')) return send()
    served++
    return send({ ...request, headers: [...request.headers, full] })
  })
  const { failed } = await judge(['envelope/shape'], { network, depth: 'quick' })
  expect(served).toBeGreaterThan(0)
  expect(failed).toEqual([])
})

test('what no selected row is to blame for fails none', async () => {
  const network = overConnections(async ({ exchanges }, request, send) => {
    const before = exchanges.at(-1)?.request.path ?? '/translate'
    const result = await send()
    const isSpoiled = request.path.includes('/translate') && !before.includes('/translate')
    if (!isSpoiled || !isGranted(result)) return result
    return answered(result, 501, '<html><title>501</title></html>', 'text/html')
  })
  const only = ['translate.run/400-empty-text']
  const { failed } = await judge(only, { network, limits: { concurrency: 1 } })
  expect(failed).toEqual([])
})
