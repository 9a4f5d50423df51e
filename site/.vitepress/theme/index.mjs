import DefaultTheme from 'vitepress/theme-without-fonts';
import StateChart from './StateChart.vue';

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => app.component('StateChart', StateChart),
};
