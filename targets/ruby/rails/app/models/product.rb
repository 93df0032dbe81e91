class Product < ApplicationRecord
  validates :name, :category, length: { in: 1..100 }
  validates :price, numericality: { only_integer: true, greater_than_or_equal_to: 0, less_than_or_equal_to: 1_000_000 }
  validate :types

  private

  # By itself an attribute takes "7" for a number, and 7 for a text.
  def types
    { name: String, category: String, price: Integer }.each do |attribute, type|
      errors.add(attribute, "has another type") unless read_attribute_before_type_cast(attribute.to_s).is_a?(type)
    end
  end
end
