import Foundation
import SwiftData

/// The models of the Apple-made store `CartKitSwiftData_v1.sqlite`.
enum Cart {
    final class CartModel: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<CartModel>
        init(backingData: any BackingData<CartModel>) { persistentBackingData = backingData }

        var id: String { unread() }
        var storeId: String { unread() }
        var profileId: String? { unread() }
        var status: String { unread() }
        var createdAt: Date { unread() }
        var updatedAt: Date { unread() }
        var metadataJSON: Data? { unread() }
        var displayName: String? { unread() }
        var context: String? { unread() }
        var storeImageURLString: String? { unread() }
        var minSubtotalAmount: Decimal? { unread() }
        var minSubtotalCurrencyCode: String? { unread() }
        var maxItemCount: Int? { unread() }
        var items: [CartItemModel] { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "id", keypath: \CartModel.id, metadata: Schema.Attribute(.unique)),
                .init(name: "storeId", keypath: \CartModel.storeId),
                .init(name: "profileId", keypath: \CartModel.profileId),
                .init(name: "status", keypath: \CartModel.status),
                .init(name: "createdAt", keypath: \CartModel.createdAt),
                .init(name: "updatedAt", keypath: \CartModel.updatedAt),
                .init(name: "metadataJSON", keypath: \CartModel.metadataJSON),
                .init(name: "displayName", keypath: \CartModel.displayName),
                .init(name: "context", keypath: \CartModel.context),
                .init(name: "storeImageURLString", keypath: \CartModel.storeImageURLString),
                .init(name: "minSubtotalAmount", keypath: \CartModel.minSubtotalAmount),
                .init(name: "minSubtotalCurrencyCode", keypath: \CartModel.minSubtotalCurrencyCode),
                .init(name: "maxItemCount", keypath: \CartModel.maxItemCount),
                .init(name: "items", keypath: \CartModel.items, metadata: Schema.Relationship(deleteRule: .cascade)),
            ]
        }
    }

    final class CartItemModel: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<CartItemModel>
        init(backingData: any BackingData<CartItemModel>) { persistentBackingData = backingData }

        var id: String { unread() }
        var productId: String { unread() }
        var quantity: Int { unread() }
        var unitPriceAmount: Decimal { unread() }
        var unitPriceCurrencyCode: String { unread() }
        var totalPriceAmount: Decimal { unread() }
        var totalPriceCurrencyCode: String { unread() }
        var imageURLString: String? { unread() }
        var availableStock: Int? { unread() }
        var modifiers: [CartItemModifierModel] { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "id", keypath: \CartItemModel.id, metadata: Schema.Attribute(.unique)),
                .init(name: "productId", keypath: \CartItemModel.productId),
                .init(name: "quantity", keypath: \CartItemModel.quantity),
                .init(name: "unitPriceAmount", keypath: \CartItemModel.unitPriceAmount),
                .init(name: "unitPriceCurrencyCode", keypath: \CartItemModel.unitPriceCurrencyCode),
                .init(name: "totalPriceAmount", keypath: \CartItemModel.totalPriceAmount),
                .init(name: "totalPriceCurrencyCode", keypath: \CartItemModel.totalPriceCurrencyCode),
                .init(name: "imageURLString", keypath: \CartItemModel.imageURLString),
                .init(name: "availableStock", keypath: \CartItemModel.availableStock),
                .init(
                    name: "modifiers", keypath: \CartItemModel.modifiers,
                    metadata: Schema.Relationship(deleteRule: .cascade)),
            ]
        }
    }

    final class CartItemModifierModel: UnreadModel, PersistentModel {
        var persistentBackingData: any BackingData<CartItemModifierModel>
        init(backingData: any BackingData<CartItemModifierModel>) { persistentBackingData = backingData }

        var id: String { unread() }
        var name: String { unread() }
        var priceDeltaAmount: Decimal { unread() }
        var priceDeltaCurrencyCode: String { unread() }

        static var schemaMetadata: [Schema.PropertyMetadata] {
            [
                .init(name: "id", keypath: \CartItemModifierModel.id, metadata: Schema.Attribute(.unique)),
                .init(name: "name", keypath: \CartItemModifierModel.name),
                .init(name: "priceDeltaAmount", keypath: \CartItemModifierModel.priceDeltaAmount),
                .init(name: "priceDeltaCurrencyCode", keypath: \CartItemModifierModel.priceDeltaCurrencyCode),
            ]
        }
    }
}
