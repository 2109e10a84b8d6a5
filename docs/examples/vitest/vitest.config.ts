import ConformanceReporter from 'ai-content-conformance/vitest/reporter'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    reporters: [
      'default',
      new ConformanceReporter({ reports: ['json', 'html=reports/conformance.html', 'junit'] }),
    ],
  },
})
