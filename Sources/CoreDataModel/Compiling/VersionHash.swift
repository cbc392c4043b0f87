import CCrypto
import CoreDataPrimitives
import Foundation

/// The hashes by which a store and a model recognise each other, equal to Apple's byte for byte.
///
/// `‖` is concatenation, integers are little-endian, `H` is SHA-256:
/// ```
/// P            = H( name ‖ u16 flags ‖ modifier )       flags: 1 optional, 2 transient, 4 read-only
/// attribute    = H( P ‖ i32 type ‖ [01 if external] ‖ [01 if preserved after deletion] )
/// derived      = H( expression text ‖ filter text )
/// relationship = H( P ‖ destination ‖ [inverse] ‖ i32 maxCount ‖ i32 minCount ‖ [u16 1 if ordered] )
/// entity       = H( name ‖ u8 abstract ‖ [hash of superentity] ‖ properties by name ‖ modifier ‖ constraints )
/// composite    = H( P ‖ i32 2100 ‖ elements by name )   our own rule: Apple's is not known
/// ```
/// Classes, defaults, validation, delete rules, indexes, renaming identifiers and user info do not count.
package enum VersionHash {
    /// The hash of one property as declared in the entity named `entityName`.
    package static func property(
        _ property: PropertyElement, declaredIn entityName: String, composites: [String: CompositeElement] = [:]
    ) -> Data {
        hash(property, declaredIn: entityName, composites: composites, depth: 0)
    }

    /// The hash of an entity.
    ///
    /// - Parameter properties: every property, inherited ones included, each with the name of the entity that
    ///   declares it, in any order.
    package static func entity(
        _ entity: EntityElement, properties: [(property: PropertyElement, declaredIn: String)],
        superentityHash: Data?, composites: [String: CompositeElement] = [:]
    ) -> Data {
        let hasComposite = properties.contains { $0.property.isComposite }
        if hasComposite, let known = entity.knownVersionHash { return known }
        var input = Data(entity.name.utf8)
        input.append(entity.isAbstract ? 1 : 0)
        if let superentityHash { input.append(superentityHash) }
        for (element, declarer) in properties.sorted(by: {
            NameOrder.byCodeUnits($0.property.name, $1.property.name)
        }) where !element.isTransient && !element.isFetched {
            input.append(property(element, declaredIn: declarer, composites: composites))
        }
        input.append(contentsOf: (entity.versionHashModifier ?? "").utf8)
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
        for constraint in constraints.sorted(by: NameOrder.byCodeUnits) {
            input.append(contentsOf: constraint.utf8)
        }
        return sha256(input)
    }

    private static func hash(
        _ property: PropertyElement, declaredIn entityName: String, composites: [String: CompositeElement], depth: Int
    ) -> Data {
        switch property.kind {
        case .attribute(let attribute):
            if let expression = attribute.derivationExpression {
                return sha256(Data((DerivationText.hashed(expression) + (attribute.derivationFilter ?? "")).utf8))
            }
            var input = common(property, isReadOnly: false)
            input.append(littleEndian: attribute.type.rawValue)
            if attribute.allowsExternalBinaryDataStorage { input.append(1) }
            if attribute.preservesValueInHistoryOnDeletion { input.append(1) }
            // Composites that contain each other are an error of the model; the depth only ends the walk.
            if attribute.type == .composite, depth < 16 {
                let elements = attribute.compositeName.flatMap { composites[$0]?.properties } ?? attribute.elements
                for element in elements.sorted(by: { NameOrder.byCodeUnits($0.name, $1.name) }) {
                    input.append(hash(element, declaredIn: entityName, composites: composites, depth: depth + 1))
                }
            }
            return sha256(input)
        case .relationship(let relationship):
            var input = common(property, isReadOnly: false)
            input.append(contentsOf: (relationship.destinationName ?? "").utf8)
            let isOwnInverse =
                relationship.inverseName == property.name && relationship.destinationName == entityName
            if let inverse = relationship.inverseName, !isOwnInverse { input.append(contentsOf: inverse.utf8) }
            input.append(littleEndian: Int32(clamping: relationship.maxCount))
            input.append(littleEndian: Int32(clamping: relationship.minCount))
            if relationship.isOrdered { input.append(littleEndian: UInt16(1)) }
            return sha256(input)
        case .fetched:
            return common(property, isReadOnly: true)
        }
    }

    private static func common(_ property: PropertyElement, isReadOnly: Bool) -> Data {
        var input = Data(property.name.utf8)
        let flags: UInt16 = (property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0) | (isReadOnly ? 4 : 0)
        input.append(littleEndian: flags)
        input.append(contentsOf: (property.versionHashModifier ?? "").utf8)
        return sha256(input)
    }

    /// The version checksum of entities with these names and hashes.
    package static func checksum(_ hashes: [String: Data]) -> String {
        var input = Data()
        for (_, hash) in hashes.sorted(by: { NameOrder.byCodeUnits($0.key, $1.key) }) { input.append(hash) }
        return sha256(input).base64EncodedString()
    }

    static func sha256(_ input: Data) -> Data {
        digest(of: input, count: Int(SHA256_DIGEST_LENGTH)) { _ = SHA256($0, $1, $2) }
    }

    static func sha512(_ input: Data) -> Data {
        digest(of: input, count: Int(SHA512_DIGEST_LENGTH)) { _ = SHA512($0, $1, $2) }
    }

    private static func digest(
        of input: Data, count: Int, by function: (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?) -> Void
    ) -> Data {
        var digest = [UInt8](repeating: 0, count: count)
        input.withUnsafeBytes { bytes in
            function(bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &digest)
        }
        return Data(digest)
    }
}

extension CompiledModel {
    /// What `NSManagedObjectModel.versionChecksum` and a store's `NSStoreModelVersionChecksumKey` say about these
    /// entities, which are those of the store's configuration.
    package static func versionChecksum(entities: [CompiledEntity]) -> String {
        VersionHash.checksum(
            Dictionary(entities.map { ($0.name, $0.versionHash) }, uniquingKeysWith: { first, _ in first }))
    }

    /// A store's `NSStoreModelVersionHashesDigest` for these entities, which are those of its configuration.
    package static func versionHashesDigest(entities: [CompiledEntity]) -> String {
        var input = Data()
        for entity in entities.sorted(by: { NameOrder.byCodeUnits($0.name, $1.name) }) {
            input.append(contentsOf: entity.name.utf8)
            input.append(entity.versionHash)
        }
        return VersionHash.sha512(input).base64EncodedString()
    }
}

extension PropertyElement {
    var isComposite: Bool {
        if case .attribute(let attribute) = kind { return attribute.type == .composite }
        return false
    }
}

extension Data {
    fileprivate mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
    }
}
