import Synchronization

/// The differences between SQL databases, as named capabilities. Code that makes or plans statements asks for a
/// capability, never for a product.
///
///     dialect.computes(.textContains, [title, part, .integer(0)])      // whether a condition may contain it
///     SQLRenderer(dialect)                                             // renders it
///
/// If a dialect lacks a feature, it is not replaced by SQL with nearly the same meaning: the planner evaluates that
/// part of a request in memory.
package final class SQLDialect: Sendable {
    package enum Placeholder: Hashable, Sendable {
        /// `?`.
        case questionMark
        /// `$1`, `$2`, ….
        case numbered
    }

    package enum Quoting: Hashable, Sendable {
        /// Names that are not plain identifiers, or that are keywords.
        case whereNeeded
        /// Every name, because unquoted names lose their case.
        case always
    }

    /// The syntax of equality in which NULL equals NULL.
    package enum Identity: Hashable, Sendable {
        /// `a IS b`, `a IS NOT b`.
        case bare
        /// `a IS NOT DISTINCT FROM b`, `a IS DISTINCT FROM b`.
        case distinctFrom
    }

    /// The way to convert a list of values, bound as one JSON array, to rows.
    package enum JSONArrays: Hashable, Sendable {
        /// `json_each(?)`, whose members have their own types.
        case members
        /// `jsonb_array_elements_text(?)`, whose members are texts.
        case texts
    }

    /// The source of information about existing tables.
    package enum Catalog: Hashable, Sendable {
        /// `sqlite_master` and the pragmas that can be queried as tables.
        case master
        /// `pg_class` and related catalogs.
        case catalogs
    }

    /// The syntax of schema statements.
    package enum Schema: Hashable, Sendable {
        /// Exactly the text of Apple's Core Data: the text is part of the file.
        case apples
        /// Standard SQL; the body of a trigger is a separate function.
        case standard
    }

    /// The names of a model's tables and columns.
    package enum Naming: Hashable, Sendable {
        /// `ZITEM`, `ZNAME`: as in Apple's files.
        case apples
        /// `Item`, `name`: as in the model.
        case models
    }

    package var placeholder: Placeholder { traits.placeholder }
    package var quoting: Quoting { traits.quoting }
    package var identity: Identity { traits.identity }
    /// `nil` if a long list cannot be bound as one value.
    package var jsonArrays: JSONArrays? { traits.jsonArrays }
    package var catalog: Catalog { traits.catalog }
    /// Whether the database supports full-text search tables.
    package var hasSearchTables: Bool {
        keepsTexts && [SQLFunction.searchText, .relevance, .excerpt].allSatisfy { form(of: $0) != nil }
    }
    package var schema: Schema { traits.schema }
    /// Whether columns can be added and dropped without rewriting the table.
    package var altersTables: Bool { traits.altersTables }
    /// Whether constraints can be added to and dropped from a table.
    package var hasConstraints: Bool { traits.hasConstraints }
    /// Whether the catalog stores the exact statements that created the schema.
    package var keepsTexts: Bool { traits.keepsTexts }
    /// The maximum number of bound values in one statement.
    package var maximumBindings: Int { traits.maximumBindings }
    /// Variants of the dialect with other limits of bound values, made on request.
    private let variants = Mutex<[Int: SQLDialect]>([:])
    /// The maximum number of tables in the FROM clause of one SELECT.
    package var maximumJoinedTables: Int { traits.maximumJoinedTables }
    /// Whether NULL sorts first by default, as in memory.
    package var sortsNullFirst: Bool { traits.sortsNullFirst }
    /// Whether OFFSET needs a LIMIT before it; -1 is no limit.
    package var offsetNeedsLimit: Bool { traits.offsetNeedsLimit }
    /// Whether a failing INSERT can leave earlier rows for the transaction's rollback.
    package var insertsUpToFailure: Bool { traits.insertsUpToFailure }
    /// Whether `CROSS JOIN … ON` makes the first table the outer loop.
    package var crossJoinsInOrder: Bool { traits.crossJoinsInOrder }
    /// Whether, after INSERT … SELECT without a WHERE, the parser reads ON CONFLICT as part of the SELECT.
    package var selectHidesConflict: Bool { traits.selectHidesConflict }
    /// The stored names of the engine's names; `nil` if they are identical.
    package var names: SQLNames? { traits.names }
    /// Whether a bound value needs an explicit type.
    package var typesBindings: Bool { traits.typesBindings }
    /// Whether booleans, dates and UUIDs have types of their own, neither numbers nor bytes, and dates have microsecond
    /// precision.
    package var typesValues: Bool { traits.typesValues }
    /// The naming of a model's tables and columns.
    package var naming: Naming { traits.naming }
    /// Whether the driver receives all rows of a result before the first can be read.
    package var readsWhole: Bool { traits.readsWhole }
    /// Whether the database is on a server: each statement with a result costs a round trip, a commit may be lost, and
    /// the store may be replaced while it is open.
    package var isRemote: Bool { traits.isRemote }
    /// Whether the schema may contain tables of other programs besides those of the store.
    package var sharesSchema: Bool { traits.sharesSchema }
    /// Whether a transaction writes a row that proves its commit.
    package var notesCommits: Bool { traits.notesCommits }
    /// Whether tables and columns can have comments.
    package var keepsComments: Bool { traits.keepsComments }
    /// Whether several transactions may write concurrently, so that a transaction must lock the rows that it depends
    /// on.
    package var writesTogether: Bool { traits.writesTogether }
    /// Whether one INSERT … ON CONFLICT can update rows and report which ones it inserted.
    package var updatesByInserting: Bool { traits.updatesByInserting }
    /// Whether the values of many rows can be bound as one array per column: `UNNEST(?, ?)`.
    package var bindsArrays: Bool { traits.bindsArrays }
    /// Operators with the same results as in memory for all numbers.
    var arithmetic: Set<SQLExpression.Arithmetic> { traits.arithmetic }
    /// Whether a statement may fail on some values although the evaluation in memory does not.
    package var failsOnValues: Bool { traits.failsOnValues }
    /// Whether decimals keep all digits.
    package var exactDecimals: Bool { traits.exactDecimals }
    /// Whether an integer and a double are compared exactly; otherwise both are converted to doubles, and large numbers
    /// are rounded.
    package var mixesNumbers: Bool { traits.mixesNumbers }
    /// Whether a grouped or distinct SELECT may select, or sort by, columns outside the groups; it then uses the values
    /// of any row.
    package var groupsLoosely: Bool { traits.groupsLoosely }
    /// Whether `text ~ expression` matches PostgreSQL's extended regular expressions, by Unicode scalars.
    package var findsPatterns: Bool { traits.findsPatterns }
    /// Whether values are converted between types as in memory.
    var casts: Bool { traits.casts }
    /// The types of columns and of casts.
    package var columnTypes: [SQLType: String] { traits.columnTypes }
    package var castTypes: [SQLType: String] { traits.castTypes }
    /// The names of column types in the catalog; empty if the catalog stores statements.
    package var catalogTypes: [SQLType: String] { traits.catalogTypes }
    private var functions: [SQLFunction: SQLForm] { traits.functions }
    private var aggregates: [SQLAggregate: SQLForm] { traits.aggregates }
    private var collations: [SQLCollation: String] { traits.collations }
    /// Whether the dialect supports everything that a fetch may need, so that no check is necessary.
    package let hasEverything: Bool

    init(_ traits: Traits) {
        hasEverything =
            traits.arithmetic.count == SQLExpression.Arithmetic.allCases.count
            && SQLFunction.allCases.allSatisfy { traits.functions[$0]?.takesAnyOptions == true }
            && SQLAggregate.allCases.allSatisfy { traits.aggregates[$0] != nil }
            && SQLCollation.allCases.allSatisfy { traits.collations[$0] != nil }
        self.traits = traits
    }

    /// All capabilities; the other properties are derived from them.
    private let traits: Traits

    // MARK: Queries

    /// Returns the stored name of a table or column of the engine.
    package func stored(_ name: String) -> String { names?.stored(name) ?? name }

    package func form(of function: SQLFunction) -> SQLForm? { functions[function] }
    package func form(of aggregate: SQLAggregate) -> SQLForm? { aggregates[aggregate] }
    package func name(of collation: SQLCollation) -> String? { collations[collation] }

    /// Returns whether the function can be computed with these arguments: some forms support no options.
    package func computes(_ function: SQLFunction, _ arguments: [SQLExpression]) -> Bool {
        guard let form = functions[function] else { return false }
        return form.takesAnyOptions || arguments.last == .integer(0)
    }

    // MARK: Variants

    /// Returns the dialect of a database with this limit of bound values. It is cached, because every opened database
    /// requests it.
    package func binding(atMost maximum: Int) -> SQLDialect {
        variants.withLock { variants in
            if let known = variants[maximum] { return known }
            let made = changed { $0.maximumBindings = maximum }
            variants[maximum] = made
            return made
        }
    }

    /// Returns the dialect without a function, an aggregate or a collation, as on a server that lacks it.
    package func without(_ function: SQLFunction) -> SQLDialect { changed { $0.functions[function] = nil } }
    package func without(_ aggregate: SQLAggregate) -> SQLDialect { changed { $0.aggregates[aggregate] = nil } }
    package func without(_ collation: SQLCollation) -> SQLDialect { changed { $0.collations[collation] = nil } }
    package func withoutJSONArrays() -> SQLDialect { changed { $0.jsonArrays = nil } }
    package func withoutArrays() -> SQLDialect { changed { $0.bindsArrays = false } }
    package func withoutPatterns() -> SQLDialect { changed { $0.findsPatterns = false } }

    /// The dialect for schemas, which may compute more than requests: by declaring it, the developer accepts the
    /// database's values.
    package var inSchemas: SQLDialect {
        traits.schemaFunctions.isEmpty
            ? self : changed { $0.functions.merge($0.schemaFunctions) { first, _ in first } }
    }

    /// The dialect for columns, constants and comparisons only, without computation.
    package var withoutComputation: SQLDialect {
        changed { traits in
            traits.arithmetic = []
            traits.aggregates = traits.aggregates.filter {
                $0.key == .count || $0.key == .maximum || $0.key == .minimum
            }
            traits.functions = traits.functions.filter { [.coalesce, .ifNull, .number, .wideNumber].contains($0.key) }
            traits.casts = false
            traits.findsPatterns = false
        }
    }

    private func changed(_ change: (inout Traits) -> Void) -> SQLDialect {
        var traits = traits
        change(&traits)
        return SQLDialect(traits)
    }
}

extension SQLDialect {
    /// The capabilities of a dialect.
    struct Traits: Sendable {
        var placeholder = Placeholder.questionMark
        var quoting = Quoting.whereNeeded
        var identity = Identity.bare
        var jsonArrays: JSONArrays?
        var catalog = Catalog.master
        var schema = Schema.apples
        var maximumBindings = 999
        var maximumJoinedTables = 64
        var sortsNullFirst = true
        var offsetNeedsLimit = true
        var insertsUpToFailure = true
        var crossJoinsInOrder = true
        var selectHidesConflict = true
        var names: SQLNames?
        var typesBindings = false
        var typesValues = false
        var naming = Naming.apples
        var readsWhole = false
        var isRemote = false
        var sharesSchema = false
        var notesCommits = false
        var keepsComments = false
        var altersTables = false
        var hasConstraints = false
        var keepsTexts = true
        var writesTogether = false
        var updatesByInserting = true
        var bindsArrays = false
        var arithmetic = Set(SQLExpression.Arithmetic.allCases)
        var failsOnValues = false
        var casts = true
        var findsPatterns = false
        var exactDecimals = false
        var mixesNumbers = true
        var groupsLoosely = true
        /// Additional functions for schemas, besides ``functions``.
        var schemaFunctions: [SQLFunction: SQLForm] = [:]
        var columnTypes: [SQLType: String] = [:]
        var castTypes: [SQLType: String] = [:]
        var catalogTypes: [SQLType: String] = [:]
        var functions: [SQLFunction: SQLForm] = [:]
        var aggregates: [SQLAggregate: SQLForm] = [:]
        var collations: [SQLCollation: String] = [:]
    }
}

/// The syntax of a function in a dialect.
package enum SQLForm: Hashable, Sendable {
    /// `NAME(a, b)`.
    case call(String)
    /// `(a op b)`.
    case infix(String)
    /// A text with numbered arguments: `"UPPER(ENCODE({0}, 'hex'))"`.
    case template(String)
    /// Like ``template(_:)``, for unfolded texts: the last argument, the options, must be 0 and is not written.
    case plainTemplate(String)
    /// `(a COLLATE c = b)`: the options, the last argument, select the collation, from 1 on.
    case collated([String])
    /// `NAME(…) WITHIN GROUP (ORDER BY a)`, for an aggregate.
    case ordered(String)

    /// Whether the function supports all text options.
    var takesAnyOptions: Bool {
        if case .plainTemplate = self { return false }
        return true
    }
}

/// The type of a column.
package enum SQLType: Hashable, Sendable, CaseIterable {
    /// An integer that is the row's primary key.
    case rowKey
    /// A 64-bit integer.
    case integer
    /// Integers of 16 and 32 bits, if the dialect has columns for them.
    case smallInteger
    case mediumInteger
    /// 0 or 1.
    case boolean
    case real
    /// Seconds since 2001-01-01 00:00:00 UTC.
    case date
    case decimal
    case text
    /// A text of at most 255 characters.
    case shortText
    case bytes
    /// The 16 bytes of a UUID.
    case identifier
}
