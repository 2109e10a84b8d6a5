import { expect, test } from 'vitest'
import type { RunArguments } from '../../cli/run/arguments.ts'
import { runOptions } from '../../cli/run/options.ts'
import { shellWord } from '../../harness/shell-word.ts'
import { expectNoKey } from './no-key.ts'

test('no key is in any report or on the terminal, though the target repeats it', () =>
  expectNoKey('--only files.retrieve/* --only translate.run/* --only envelope/*'))

test.each([
  ['DB_PASSWORD=hunter2 node server.js', 'DB_PASSWORD=[redacted] node server.js'],
  ['node server.js --api-key=hunter2', 'node server.js --api-key=[redacted]'],
  [
    "node server.js --api-key 'hunter 2' --port 80",
    'node server.js --api-key [redacted] --port 80',
  ],
  ['docker run -e API_KEY=hunter2 image', 'docker run -e API_KEY=[redacted] image'],
  ['node server.js --tls-key key.pem --verbose', 'node server.js --tls-key key.pem --verbose'],
  ['node server.js --token "$TOKEN"', 'node server.js --token "$TOKEN"'],
  ['DB=postgres://me:hunter2@db/x npm start', 'DB=postgres://me:[redacted]@db/x npm start'],
  ['DB=postgres://me:$PW@db:80/x npm start', 'DB=postgres://me:$PW@db:80/x npm start'],
])('the command that starts a server is repeated without its secrets: %s', (start, shown) => {
  const options = { start, header: {}, only: [], skip: [] } as unknown as RunArguments
  expect(runOptions(options, 'http://x.example', []).rerun).toContain(shellWord(shown))
})
