import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { makeFolder } from '../../harness/make-folder.ts'

vi.mock('node:fs', async (original) => {
  const real = await original<typeof fs>()
  return {
    ...real,
    // Another process is always a moment sooner.
    mkdirSync(path: string) {
      real.mkdirSync(path)
      real.mkdirSync(path)
    },
  }
})

test('a folder that another run makes at the same moment is made', () => {
  const dir = fs.mkdtempSync(join(tmpdir(), 'conform-folder-'))
  try {
    makeFolder(join(dir, 'reports', 'today'))
    expect(fs.existsSync(join(dir, 'reports', 'today'))).toBe(true)
  } finally {
    fs.rmSync(dir, { recursive: true })
  }
})
