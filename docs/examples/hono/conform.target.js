import { defineTarget } from 'ai-content-conformance'
import { app, key } from './app.js'

export default defineTarget({
  name: 'Example with Hono',
  // No port is opened: requests go to the application itself.
  fetch: app.fetch,
  keys: { full: key },
  resources: { file: 'a.pdf' },
  operations: {
    'files.list': {},
    'web-search.run': { body: { query: 'tea' }, fields: { query: '/query' } },
    '*': 'not-served',
    guardrails: 'not-served',
    general: 'not-served',
  },
  unreachable: {
    '*/401-expired-key': 'the key of this server never expires',
    '*/403-*': 'its one key has all rights',
    'files.retrieve/410-*': 'it deletes nothing',
    '*/429-*': 'it has no limits',
    'web-search.run/400-query-too-long': 'it takes queries of any length',
    'web-search.run/500-*': 'nobody knows how to make it fail',
    'web-search.run/503-*': 'it searches by itself',
  },
})
