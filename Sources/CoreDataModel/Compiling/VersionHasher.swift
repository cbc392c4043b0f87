import CoreDataDigests
import CoreDataPrimitives
import Foundation

/// Computes many ``VersionHash``es in sequence: each launch of an app computes those of all properties of its model.
struct VersionHasher {
    /// The bytes of a hash.
    typealias Digest = SIMD32<UInt8>

    /// The rule that hashes composite attributes.
    enum CompositeRule {
        /// Apple's rule: only the hashes of the elements, by name.
        case apples
        /// The rule of earlier versions of this framework; see ``CompiledEntity/formerVersionHash``.
        case former
    }

    let composites: [String: CompositeElement]
    private let rule: CompositeRule
    /// The input of the next hash; reused to avoid allocations.
    private var input: [UInt8] = []

    init(composites: [String: CompositeElement], rule: CompositeRule = .apples) {
        self.composites = composites
        self.rule = rule
    }

    /// Returns the hash of a property as declared in the entity named `entityName`.
    mutating func property(_ property: PropertyElement, declaredIn entityName: String) -> Digest {
        hash(property, declaredIn: entityName, depth: 0)
    }

    /// The data of a property that its entity's hash includes.
    struct Hashed {
        let name: String
        let isComposite: Bool
        let isCounted: Bool
        let digest: Digest

        init(name: String, isComposite: Bool, isCounted: Bool, digest: Digest) {
            self.name = name
            self.isComposite = isComposite
            self.isCounted = isCounted
            self.digest = digest
        }

        init(_ property: PropertyElement, _ digest: Digest) {
            name = property.name
            isComposite = property.isComposite
            isCounted = !property.isTransient && !property.isFetched
            self.digest = digest
        }
    }

    /// Returns the hash of an entity; `properties` includes inherited ones, in any order.
    mutating func entity(_ entity: EntityElement, properties: [Hashed], superentityHash: Data?) -> Data {
        var stored = properties.filter(\.isCounted)
        stored.sort { NameOrder.byCodeUnits($0.name, $1.name) }
        begin(entity.name)
        input.append(entity.isAbstract ? 1 : 0)
        if let superentityHash { input.append(contentsOf: superentityHash) }
        for property in stored { append(property.digest) }
        if let modifier = entity.versionHashModifier { input.append(contentsOf: modifier.utf8) }
        let constraints = entity.uniquenessConstraints.map { $0.joined(separator: ".") }
        for constraint in constraints.sorted(by: NameOrder.byCodeUnits) { input.append(contentsOf: constraint.utf8) }
        return Self.sha256(input).data
    }

    private mutating func hash(_ property: PropertyElement, declaredIn entityName: String, depth: Int) -> Digest {
        switch property.kind {
        case .attribute(let attribute):
            if let expression = attribute.derivationExpression {
                begin(DerivationText.hashed(expression) + (attribute.derivationFilter ?? ""))
                return Self.sha256(input)
            }
            let elements = elements(of: attribute, declaredIn: entityName, depth: depth)
            if attribute.type == .composite, rule == .apples {
                input.removeAll(keepingCapacity: true)
                for element in elements { append(element) }
                return Self.sha256(input)
            }
            beginWithCommon(property)
            append(littleEndian: attribute.type.rawValue)
            if attribute.allowsExternalBinaryDataStorage { input.append(1) }
            if attribute.preservesValueInHistoryOnDeletion { input.append(1) }
            for element in elements { append(element) }
        case .relationship(let relationship):
            beginWithCommon(property)
            input.append(contentsOf: (relationship.destinationName ?? "").utf8)
            let isOwnInverse =
                relationship.inverseName == property.name && relationship.destinationName == entityName
            if let inverse = relationship.inverseName, !isOwnInverse { input.append(contentsOf: inverse.utf8) }
            append(littleEndian: Int32(clamping: relationship.maxCount))
            append(littleEndian: Int32(clamping: relationship.minCount))
            if relationship.isOrdered { append(littleEndian: UInt16(1)) }
        case .fetched:
            return common(property)
        }
        return Self.sha256(input)
    }

    /// Returns the elements of a composite attribute. Composites that contain each other are a model error; the depth
    /// limit only ends the recursion.
    private mutating func elements(
        of attribute: AttributeElement, declaredIn entityName: String, depth: Int
    ) -> [Digest] {
        guard attribute.type == .composite, depth < 16 else { return [] }
        let elements = attribute.compositeName.flatMap { composites[$0]?.properties } ?? attribute.elements
        return elements.filter { rule == .former || !$0.isTransient }
            .sorted { NameOrder.byCodeUnits($0.name, $1.name) }
            .map { hash($0, declaredIn: entityName, depth: depth + 1) }
    }

    /// Returns the common first part of all property hashes.
    private mutating func common(_ property: PropertyElement) -> Digest {
        begin(property.name)
        let flags: UInt16 =
            (property.isOptional ? 1 : 0) | (property.isTransient ? 2 : 0) | (property.isFetched ? 4 : 0)
        append(littleEndian: flags)
        if let modifier = property.versionHashModifier { input.append(contentsOf: modifier.utf8) }
        return Self.sha256(input)
    }

    // MARK: Bytes

    private mutating func begin(_ text: String) {
        input.removeAll(keepingCapacity: true)
        input.append(contentsOf: text.utf8)
    }

    private mutating func beginWithCommon(_ property: PropertyElement) {
        let common = common(property)
        input.removeAll(keepingCapacity: true)
        append(common)
    }

    private mutating func append(_ digest: Digest) {
        withUnsafeBytes(of: digest) { input.append(contentsOf: $0) }
    }

    private mutating func append<Number: FixedWidthInteger>(littleEndian number: Number) {
        withUnsafeBytes(of: number.littleEndian) { input.append(contentsOf: $0) }
    }

    static func sha256(_ input: [UInt8]) -> Digest {
        var digest = Digest()
        withUnsafeMutableBytes(of: &digest) { Digests.sha256(input, into: $0) }
        return digest
    }
}

extension VersionHasher.Digest {
    var data: Data { withUnsafeBytes(of: self) { Data($0) } }
}

extension PropertyElement {
    var isComposite: Bool {
        if case .attribute(let attribute) = kind { return attribute.type == .composite }
        return false
    }
}
