import CObjectRuntime
import CoreDataModel
import CoreDataPrimitives
import CoreDataStore
import Foundation
import Synchronization

/// An object of the graph: an instance of an entity, in a context.
///
/// Reading a property of a fault reads its whole row; setting one marks the object as changed and keeps the inverse
/// relationship in step. An object belongs to its context's queue: read and write it inside `perform`.
///
///     let item = Item(context: context)
///     item.setValue("Milk", forKey: "name")
///     try context.save()                 // INSERT INTO ZITEM(Z_PK, Z_ENT, Z_OPT, ZNAME, …) VALUES(?, ?, ?, ?, …)
///
/// ```
///                 insert            save
///   (no context) ───────▶ inserted ─────▶ clean ◀──────────┐
///                            │ delete      │  ▲            │ save
///                            ▼          set│  │fire        │
///                         detached         ▼  │            │
///                                       updated, fault     │
///                            ┌─────────────┘               │
///                            ▼ delete                      │
///                         deleted ── save ──▶ detached     │
///                            └──── rollback ───────────────┘
/// ```
/// What may be trusted: `row` holds the values last read or saved (a fault may have one already, read but not yet
/// shown); `values` holds only what differs from it; `relations` holds what was looked at.
///
/// Differs from Apple: `init(entity:insertInto:)` is `required`, so a subclass that overrides it says `required`
/// instead of `override`.
open class NSManagedObject: NSObject {
    // An object belongs to its context's queue, and no accessor of these fields calls back: to have every access
    // checked for overlaps would cost as much as reading a property.

    // What reading a property needs comes first, since an object spans two lines of the processor's cache.

    /// Entity, context and store; see ``move(to:)``.
    @exclusivity(unchecked) private(set) final var home: ObjectHome
    /// Stands for the row and holds it, 0 without one; see ``row``.
    @exclusivity(unchecked) private final var rowWord: UInt = 0
    /// Returns ``values`` without counting a reference. Valid until the object releases them.
    @exclusivity(unchecked) private(set) final var uncountedValues: Unmanaged<ObjectValues>?
    @exclusivity(unchecked) final var flags: ObjectFlags = []
    /// By relationship position; empty until a relationship is looked at.
    @exclusivity(unchecked) final var relations = RelationTable()
    /// The key under which the object is registered: negative before the first save.
    @exclusivity(unchecked) private(set) final var primaryKey: Int64 = 0
    /// What few objects need, retained: made once and never replaced, since other queues may ask for the ID.
    private final let extrasAddress = Atomic<UInt>(0)

    /// Makes an object of an entity and inserts it into a context, or leaves it outside for `nil`.
    ///
    /// - Precondition: the entity is not abstract.
    public required init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        if let pending = ocd_take_pending_home(
            unsafeBitCast(type(of: self) as AnyClass, to: UnsafeRawPointer.self),
            Unmanaged.passUnretained(entity).toOpaque())
        {
            home = Unmanaged<ObjectHome>.fromOpaque(pending).takeUnretainedValue()
            super.init()
            return
        }
        home = context?.homeOfNew(entity) ?? ObjectHome(outside: EntityRuntime.of(entity, in: nil))
        super.init()
        learnClass()
        precondition(
            !home.isAbstract,
            "Cannot create an object of abstract entity '\(home.runtime.name)'; use one of its subentities.")
        primaryKey = NSManagedObjectID.newTemporaryKey()
        flags = .new
        context?.insert(self)
    }

    /// Creates a placeholder without an entity: it has no properties and cannot be inserted.
    public convenience override init() { self.init(entity: EntityRuntime.ofNoModel.entity, insertInto: nil) }

    /// Creates an object of the one entity that names this class, and inserts it.
    ///
    ///     let item = Item(context: container.viewContext)
    ///
    /// - Precondition: exactly one entity of the context's model claims the class.
    ///
    /// It is generic over the context's class only so that a subclass can declare an `init(context:)` without
    /// `required`.
    public required convenience init<Context: NSManagedObjectContext>(context moc: Context) {
        self.init(entity: moc.entity(forClass: Self.self), insertInto: moc)
    }

    /// Returns the entity whose objects have this class, in the models that coordinators of the program use.
    ///
    /// Override it to name the entity yourself: `init(context:)` and `fetchRequest()` call it.
    ///
    ///     override class func entity() -> NSEntityDescription { Library.model.entitiesByName["Item"]! }
    ///
    /// If no entity claims the class, as none claims `NSManagedObject` itself, the result belongs to no model, and no
    /// store has it. If several claim it, the result is the first by name. The log has a message in both cases.
    open class func entity() -> NSEntityDescription { claimedEntity() }

    deinit {
        if flags.contains(.observed) { endObservation() }
        if let extras = Self.extras(at: extrasAddress.load(ordering: .relaxed)) { extras.release() }
        relations.removeAll()
        uncountedValues?.release()
        guard flags.contains(.registered), let registry = home.uncountedRegistry else {
            return RowSnapshot.release(rowWord)
        }
        registry._withUnsafeGuaranteedRef { $0.unregister(self, primaryKey: primaryKey) }
        giveUpRow()
    }

    // MARK: What the fields mean

    /// The entity, laid out for speed.
    final var runtime: EntityRuntime { home.runtime }
    /// The context's registry; `nil` before insertion.
    final var registry: ObjectRegistry? { home.registry }
    /// The store that holds the object or shall hold it; 0 before that is known.
    final var storeIndex: Int32 { home.storeIndex }

    /// The values last read or saved.
    final var row: RowSnapshot? {
        get { RowSnapshot(word: rowWord) }
        set { takeRow(newValue.map { HeldRow($0) }) }
    }

    /// Returns ``row`` without a reference. Valid until another row is set.
    @inline(__always)
    final var rowView: RowView? { rowWord == 0 ? nil : RowView(word: rowWord) }

    final var hasRow: Bool { rowWord != 0 }

    /// Whether there is a row to show: of a fault one that no save has replaced or deleted since. One that has changes
    /// has the row that they were made on.
    @inline(__always)
    final var hasCurrentRow: Bool { rowWord != 0 && !hasSupersededRow }

    @inline(__always)
    private final var hasSupersededRow: Bool {
        flags.intersection([.fault, .updated]) == .fault && RowSnapshot.isSuperseded(rowWord)
    }

    /// Marks the row as superseded, because the object is about to change. Faults that hold the row, especially in
    /// child contexts, then read the current state.
    final func supersedeRow() { RowSnapshot.supersede(rowWord) }

    /// The values that were set and are not in the row.
    final var values: ObjectValues? {
        get { uncountedValues?.takeUnretainedValue() }
        set {
            let old = uncountedValues
            uncountedValues = newValue.map { .passRetained($0) }
            old?.release()
        }
    }

    /// Replaces the row that the object holds.
    final func takeRow(_ row: consuming HeldRow?) {
        RowSnapshot.release(rowWord)
        rowWord = HeldRow.word(of: row)
    }

    /// Releases the row. The store forgets it when no other object holds it.
    final func giveUpRow() {
        guard rowWord != 0 else { return }
        let word = rowWord
        rowWord = 0
        guard let cache = home.uncountedRowCache else { return RowSnapshot.release(word) }
        cache._withUnsafeGuaranteedRef { $0.giveUp(HeldRow(word: word), root: home.root, primaryKey: primaryKey) }
    }

    /// The ID that was asked for last; the object may have another one meanwhile, see ``renewID()``.
    final var cachedID: NSManagedObjectID? { extras?.id }

    final var hasExtras: Bool { extrasAddress.load(ordering: .relaxed) != 0 }

    /// The faults that the same batch fetch made; they are realised together.
    final var batch: BatchPlace? {
        get { extras?.batch }
        set {
            if newValue != nil || extras != nil { madeExtras().batch = newValue }
        }
    }

    private static func extras(at address: UInt) -> Unmanaged<ObjectExtras>? {
        UnsafeRawPointer(bitPattern: address).map { Unmanaged.fromOpaque($0) }
    }

    final var extras: ObjectExtras? {
        Self.extras(at: extrasAddress.load(ordering: .acquiring))?.takeUnretainedValue()
    }

    final func madeExtras() -> ObjectExtras {
        if let extras { return extras }
        let made = Unmanaged.passRetained(ObjectExtras())
        let (isFirst, address) = extrasAddress.compareExchange(
            expected: 0, desired: UInt(bitPattern: made.toOpaque()), ordering: .acquiringAndReleasing)
        if isFirst { return made.takeUnretainedValue() }
        made.release()
        return Self.extras(at: address)?.takeUnretainedValue() ?? ObjectExtras()
    }

    // MARK: Identity and state

    /// The context of the object; `nil` for an object without one, after its deletion was saved and after a reset.
    ///
    /// Differs from Apple: never dangles; it is `nil` after the context was deallocated.
    public final var managedObjectContext: NSManagedObjectContext? { registry?.context }

    /// The object's entity.
    public final var entity: NSEntityDescription { runtime.entity }

    /// The object's ID: temporary until the first save or `obtainPermanentIDs(for:)`.
    ///
    /// May be asked for on any queue.
    public final var objectID: NSManagedObjectID {
        if let cachedID { return cachedID }
        let (home, id) = newID()
        // On another queue it may be about to get a permanent one.
        if let context = home.registry?.context, !context.isOwnedByCurrentThread { return id }
        return madeExtras().take(id)
    }

    private final func newID() -> (ObjectHome, NSManagedObjectID) {
        let (home, key) = whileLocked { (self.home, primaryKey) }
        return (home, NSManagedObjectID(runtime: home.runtime, primaryKey: key, store: home.store))
    }

    /// Creates an ID for the object's new key, if the ID with the old key was handed out.
    final func renewID() { madeExtras().replace(with: newID().1) }

    /// Moves the object to another context or store. Code on another queue that reads its ID meanwhile gets the old or
    /// the new one.
    final func move(to home: ObjectHome) {
        let old = whileLocked {
            let old = self.home
            self.home = home
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Gives the object another key, after its store: a permanent key has a store. As ``move(to:)``.
    final func take(key: Int64) { whileLocked { primaryKey = key } }

    /// Sets the key of an object that no other code has yet.
    @inline(__always)
    final func begin(withKey key: Int64) { primaryKey = key }

    @inline(__always)
    private final func whileLocked<Value>(_ body: () -> Value) -> Value {
        let address = Unmanaged.passUnretained(self).toOpaque()
        ocd_lock_identity(address)
        defer { ocd_unlock_identity(address) }
        return body()
    }

    /// Gives an object of no store of ours the ID that it was asked for with.
    final func takeID(_ id: NSManagedObjectID) { madeExtras().replace(with: id) }

    /// 0 when the object is fully realised and not turning into a fault or back.
    open var faultingState: Int { flags.isDisjoint(with: [.fault, .inTransition, .forgotten]) ? 0 : 1 }

    /// Objects are equal when they are the same object; never fires a fault.
    public final override func isEqual(_ object: Any?) -> Bool { (object as AnyObject?) === self }

    public final override var hash: Int { ObjectIdentifier(self).hashValue }

    /// Whether changes of properties that the model does not know are no changes of the object.
    open class var contextShouldIgnoreUnmodeledPropertyChanges: Bool { true }

    open override var description: String {
        let id = primaryKey == 0 ? "no ID" : objectID.description
        let place = "\(type(of: self)): \(Unmanaged.passUnretained(self).toOpaque())"
        return "<\(place)> (entity: \(runtime.name); id: \(id); data: \(isFault ? "<fault>" : attributeDescriptions))"
    }

    // MARK: Life cycle

    /// Called once, when the object is inserted into a context, after default values hold.
    open func awakeFromInsert() {}

    /// Called each time a fault's values were read; attributes set here are no changes.
    open func awakeFromFetch() {}

    /// Called after undo, rollback, refresh and merging changed the object's values.
    open func awake(fromSnapshotEvents flags: NSSnapshotEventType) {}

    /// Called when the object is to be deleted, while its relationships still hold.
    open func prepareForDeletion() {}

    /// Called before the object is written, also if it is deleted. Values set here are saved.
    open func willSave() {}

    /// Called after the object was written, also for deleted objects.
    open func didSave() {}

    /// Called before the object forgets its values; they can still be read.
    open func willTurnIntoFault() {}

    /// Called after the object forgot its values; reading one would fire the fault again.
    open func didTurnIntoFault() {}

    // MARK: Validation

    /// Throws what keeps the object from being inserted; override to add checks, calling super first.
    open func validateForInsert() throws { try validate(.insert) }

    /// Throws what keeps the object from being updated.
    open func validateForUpdate() throws { try validate(.update) }

    /// Throws what keeps the object from being deleted: a relationship that denies it.
    open func validateForDelete() throws { try validate(.delete) }

    /// Throws if the value is not valid for the property; may replace the value.
    ///
    /// Checks the model's rules, then calls the class's `func validate<Key>(_:
    /// AutoreleasingUnsafeMutablePointer<AnyObject?>) throws`. Override this method for your own checks, and call
    /// super.
    ///
    /// Differs from Apple: a `validate<Key>` method is found only if `NSManagedPlugin` or `CoreDataPortPlugin` reads
    /// the class.
    open func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        try validateModeled(value, forKey: key)
        try validateByMember(value, forKey: key)
    }

    // MARK: Key-value coding

    /// The value of a property by name, `nil` for nil; numbers are `NSNumber`, a to-many is an `NSSet` or
    /// `NSOrderedSet` of the present members.
    open func value(forKey key: String) -> Any? {
        guard let slot = slot(forKey: key) else { return unmodeledValue(forKey: key) }
        return anyValue(slot)
    }

    /// Sets a property by name; the object is changed, the inverse relationship follows.
    ///
    /// - Precondition: the value is of the property's type.
    open func setValue(_ value: Any?, forKey key: String) {
        guard let slot = slot(forKey: key) else { return setUnmodeledValue(value, forKey: key) }
        if value == nil, isNumber(slot), ClassOverrides.overridesNilValue(type(of: self)) {
            return setNilValueForKey(key)
        }
        setAnyValue(value, slot, refusesNull: true)
    }

    /// Called if `setValue(_:forKey:)` sets a number or boolean to nil. Override it for a property that is a scalar in
    /// Swift.
    ///
    ///     override func setNilValueForKey(_ key: String) {
    ///         if key == "quantity" { quantity = 1 } else { super.setNilValueForKey(key) }
    ///     }
    ///
    /// Differs from Apple: the default sets nil, which a scalar reads as 0, and does not raise.
    open func setNilValueForKey(_ key: String) {
        if let slot = slot(forKey: key) { setAnyValue(nil, slot) }
    }

    /// Returns the value of a property that the entity does not have. Override it for properties of the class.
    ///
    /// - Precondition: a subclass overrides it; this implementation stops the program.
    open func value(forUndefinedKey key: String) -> Any? {
        preconditionFailure(KeyValueCoding.unknownKeyMessage(key, of: self))
    }

    /// Sets a property that the entity does not have; override it for properties of the class.
    open func setValue(_ value: Any?, forUndefinedKey key: String) {
        preconditionFailure(KeyValueCoding.unknownKeyMessage(key, of: self))
    }

    /// Says that a property is about to be read; fires the fault. `nil` only fires it.
    open func willAccessValue(forKey key: String?) {
        noteRead(key: key)
        fireIfNeeded(key: key)
    }

    /// Says that a property was read.
    open func didAccessValue(forKey key: String?) {}

    /// Says that a property is about to be set by `setPrimitiveValue(_:forKey:)`.
    open func willChangeValue(forKey key: String) { beginManualChange(key) }

    /// Says that a property was set: marks the object as changed, and keeps a relationship's inverse in step.
    open func didChangeValue(forKey key: String) { endManualChange(key, .anything) }

    /// Says that members of a to-many are about to come or go by way of the primitive collection.
    open func willChangeValue(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) { beginManualChange(key, mutation, objects) }

    /// Says that members of a to-many came or went: the inverse is kept in step.
    open func didChangeValue(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using objects: Set<AnyHashable>
    ) { endManualChange(key, .objects(objects)) }

    /// Says that members at these positions of an ordered to-many are about to come, go or be replaced by way of the
    /// primitive collection.
    open func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        beginManualChange(key, changeKind, at: indexes)
    }

    /// Says that members at these positions of an ordered to-many came, went or were replaced: the inverse is kept in
    /// step.
    open func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: IndexSet, forKey key: String) {
        endManualChange(
            key, changeKind == .setting ? .anything : changeKind == .removal ? .positions([]) : .positions(indexes))
    }
}

extension NSManagedObject: NSFetchRequestResult {}
