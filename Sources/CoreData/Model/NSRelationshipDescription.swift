import CoreDataModel
import Foundation

/// The effect on related objects when an object is deleted.
public enum NSDeleteRule: UInt, Sendable {
    /// None: the related objects keep a reference to a deleted object. The program must correct it.
    case noActionDeleteRule = 0
    /// The related objects forget the deleted one.
    case nullifyDeleteRule = 1
    /// The related objects are deleted too.
    case cascadeDeleteRule = 2
    /// The deletion fails when it is saved, as long as there are related objects.
    case denyDeleteRule = 3
}

/// A description of a relationship: links from an object to one or many objects of an entity.
///
///     let author = NSRelationshipDescription()
///     author.name = "author"
///     author.destinationEntity = authorEntity
///     author.maxCount = 1                      // to-one; 0 is to-many without a bound
///     author.inverseRelationship = books       // and books.inverseRelationship = author
open class NSRelationshipDescription: NSPropertyDescription {
    @WeakEntity private var storedDestination: NSEntityDescription?
    private weak var storedInverse: NSRelationshipDescription?
    /// Names by which destination and inverse are found if the descriptions were deallocated or belong to another
    /// model, after copying and decoding.
    private var destinationName: String?
    private var inverseName: String?
    private var storedMinCount = 0
    private var storedMaxCount = 0
    private var storedDeleteRule = NSDeleteRule.nullifyDeleteRule
    private var storedIsOrdered = false

    /// The destination entity.
    ///
    /// A relationship whose entity was copied to another model finds the entity of that name there.
    open var destinationEntity: NSEntityDescription? {
        get {
            guard let model = owner?.model, storedDestination?.model !== model else { return storedDestination }
            return givenDestinationName.flatMap { model.entitiesByName[$0] } ?? storedDestination
        }
        set {
            willChange("destinationEntity")
            storedDestination = newValue
            destinationName = newValue?.name
        }
    }

    /// The relationship that leads back; set it on both. Almost every relationship should have one.
    open var inverseRelationship: NSRelationshipDescription? {
        get {
            guard let model = owner?.model, storedInverse?.owner?.model !== model else { return storedInverse }
            guard let name = givenInverseName else { return nil }
            return destinationEntity?.relationshipsByName[name] ?? storedInverse
        }
        set {
            willChange("inverseRelationship")
            storedInverse = newValue
            inverseName = newValue?.name
        }
    }

    /// The most objects that the relationship can have: 1 for a to-one, 0 or less for any number.
    open var maxCount: Int {
        get { storedMaxCount }
        set {
            willChange("maxCount")
            // Stored unchanged: the version hash distinguishes -1 from 0, and models with -1 exist.
            storedMaxCount = newValue
        }
    }

    /// The fewest objects that it must have, unless it is optional and has none.
    open var minCount: Int {
        get { storedMinCount }
        set {
            willChange("minCount")
            storedMinCount = max(0, newValue)
        }
    }

    /// The effect on the related objects when an object is deleted; nullify by default.
    open var deleteRule: NSDeleteRule {
        get { storedDeleteRule }
        set {
            willChange("deleteRule")
            storedDeleteRule = newValue
        }
    }

    /// Whether it can have more than one object: `maxCount` is not 1.
    open var isToMany: Bool { storedMaxCount != 1 }

    /// Whether a to-many keeps its objects in an order of yours, as an ordered set.
    open var isOrdered: Bool {
        get { storedIsOrdered }
        set {
            willChange("isOrdered")
            storedIsOrdered = newValue
        }
    }

    // MARK: - Names of the other end

    final var givenDestinationName: String? { storedDestination?.name ?? destinationName }

    final var givenInverseName: String? { storedInverse?.name ?? inverseName }

    /// Names the other end, to be found when the relationship's entity is in a model.
    final func setOtherEnd(destinationName: String?, inverseName: String?) {
        storedDestination = nil
        storedInverse = nil
        self.destinationName = destinationName
        self.inverseName = inverseName
    }

    /// Looks for the other end in the model, so that it is found under a new name too when it gets one.
    final func bind(in model: NSManagedObjectModel) {
        if storedDestination?.model !== model, let name = givenDestinationName,
            let destination = model.entitiesByName[name]
        {
            storedDestination = destination
        }
        if storedInverse?.owner?.model !== model, let name = givenInverseName,
            let inverse = storedDestination?.relationshipsByName[name]
        {
            storedInverse = inverse
        }
        // Names may have been given after the ends were set.
        destinationName = givenDestinationName
        inverseName = givenInverseName
    }

    // MARK: - Copying and equality

    override func makeEmpty() -> NSPropertyDescription { NSRelationshipDescription() }

    override func adopt(_ other: NSPropertyDescription) {
        super.adopt(other)
        guard let other = other as? NSRelationshipDescription else { return }
        storedDestination = other.storedDestination
        storedInverse = other.storedInverse
        destinationName = other.givenDestinationName
        inverseName = other.givenInverseName
        storedMinCount = other.storedMinCount
        storedMaxCount = other.storedMaxCount
        storedDeleteRule = other.storedDeleteRule
        storedIsOrdered = other.storedIsOrdered
    }

    override func hasEqualContent(to other: NSPropertyDescription) -> Bool {
        guard super.hasEqualContent(to: other), let other = other as? NSRelationshipDescription else { return false }
        return givenDestinationName == other.givenDestinationName && givenInverseName == other.givenInverseName
            && storedMinCount == other.storedMinCount && storedMaxCount == other.storedMaxCount
            && storedDeleteRule == other.storedDeleteRule && storedIsOrdered == other.storedIsOrdered
    }
}
