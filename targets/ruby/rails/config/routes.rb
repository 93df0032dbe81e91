Rails.application.routes.draw do
  root "greetings#hello"
  get "hola/:name", to: "greetings#hola", format: false, constraints: { name: %r{[^/]+} }
  get "page/:n", to: "pages#show", format: false, constraints: { n: /\d+/ }
  get "messages", to: "messages#index", format: false
  # Any other id matches no route.
  resources :products, only: %i[index show create update destroy], format: false, constraints: { id: /\d{1,10}/ }
  get "api/users", to: "users#index", format: false
  get "api/proxy", to: "upstream#show", format: false
end
