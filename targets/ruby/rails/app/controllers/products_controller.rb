class ProductsController < ApplicationController
  COLUMNS = %i[id name category price].freeze

  # The constraint of the table says so; a validation of uniqueness would read first.
  rescue_from(ActiveRecord::RecordNotUnique) { head :conflict }

  def index
    page = params.fetch(:page, "1")
    return head :unprocessable_entity unless page.match?(/\A0*[1-9][0-9]{0,8}\z/)

    products = Product.select(*COLUMNS).order(:id).limit(20).offset((page.to_i - 1) * 20)
    products = products.where(category: params[:category]) if params[:category]
    render json: products
  end

  def show
    product = Product.select(*COLUMNS).find_by(id: params[:id])
    product ? render(json: product) : head(:not_found)
  end

  def create
    product = Product.new(sent)
    return render json: product.errors, status: :unprocessable_entity unless product.save

    render json: product, status: :created, location: "/products/#{product.id}"
  end

  # By `update_all`: one statement, which says whether there was such a row.
  def update
    product = Product.new(sent)
    return render json: product.errors, status: :unprocessable_entity unless product.valid?

    changed = Product.where(id: params[:id]).update_all(product.attributes.except("id"))
    return head :not_found if changed.zero?

    product.id = params[:id]
    render json: product
  end

  def destroy
    head Product.where(id: params[:id]).delete_all.zero? ? :not_found : :no_content
  end

  private

  def sent = request.request_parameters.slice("name", "category", "price")
end
