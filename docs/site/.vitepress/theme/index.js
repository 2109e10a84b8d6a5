import DefaultTheme from 'vitepress/theme'
import { defineAsyncComponent } from 'vue'
import Diagram from './Diagram.vue'
import './style.css'

export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component('Diagram', Diagram)
    // Its cells are loaded for its page alone.
    app.component(
      'FaultMatrix',
      defineAsyncComponent(() => import('./FaultMatrix.vue')),
    )
  },
}
