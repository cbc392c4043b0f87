import CoreDataPredicate
import CoreDataPrimitives
import CoreDataSQL
import Testing

@testable import CoreDataStore

/// To-many relationships: ANY, ALL, NONE, IN, SUBQUERY, operators and positions (predicates.md §8.1).
@Suite struct CollectionTranslationTests {
    static let collections: [TranslationCase] = [
        .check(
            "Tag", "books.@count > 0",
            "ZTAG t0 WHERE EXISTS (SELECT 1 FROM Z_2TAGS t1 WHERE t1.Z_6TAGS = t0.Z_PK)"),
        .check(
            "Tag", "books.@count == 2",
            "ZTAG t0 WHERE (SELECT COUNT(*) FROM Z_2TAGS t1 WHERE t1.Z_6TAGS = t0.Z_PK) = ?", .integer(2)),
        .check(
            "Tag", "books.@count.pages == 2",
            "ZTAG t0 WHERE (SELECT COUNT(*) FROM Z_2TAGS t1 WHERE t1.Z_6TAGS = t0.Z_PK) = ?", .integer(2)),
        .check(
            "Tag", "books.@count.@count == 2",
            "ZTAG t0 WHERE (SELECT COUNT(*) FROM Z_2TAGS t1 WHERE t1.Z_6TAGS = t0.Z_PK) = ?", .integer(2)),
        .check(
            "Author", "books.pages.@max.self > 3",
            "ZAUTHOR t0 WHERE (SELECT MAX(t1.ZPAGES) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) > ?", .integer(3)),
        .check(
            "Author", "books.@max.tags.@count > 3",
            """
            ZAUTHOR t0 WHERE (SELECT MAX((SELECT COUNT(*) FROM Z_2TAGS t2 WHERE t2.Z_2BOOKS1 = t1.Z_PK)) FROM \
            ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) > ?
            """, .integer(3)),
        .check(
            "Tag", "ANY books.title == 'x'",
            """
            ZTAG t0 WHERE EXISTS (SELECT 1 FROM Z_2TAGS t1 JOIN ZBOOK t2 ON t2.Z_PK = t1.Z_2BOOKS1 WHERE \
            t1.Z_6TAGS = t0.Z_PK AND t2.ZTITLE = ?)
            """, .text("x")),
        .check(
            "Tag", "ALL books.pages > 3",
            """
            ZTAG t0 WHERE NOT EXISTS (SELECT 1 FROM Z_2TAGS t1 JOIN ZBOOK t2 ON t2.Z_PK = t1.Z_2BOOKS1 WHERE \
            t1.Z_6TAGS = t0.Z_PK AND (t2.ZPAGES <= ? OR t2.ZPAGES IS NULL))
            """, .integer(3)),
        .check(
            "Tag", "NONE books.pages > 3",
            """
            ZTAG t0 WHERE NOT EXISTS (SELECT 1 FROM Z_2TAGS t1 JOIN ZBOOK t2 ON t2.Z_PK = t1.Z_2BOOKS1 WHERE \
            t1.Z_6TAGS = t0.Z_PK AND t2.ZPAGES > ?)
            """, .integer(3)),
        .check(
            "Tag", "ANY books.author.name == nil",
            """
            ZTAG t0 WHERE EXISTS (SELECT 1 FROM Z_2TAGS t1 JOIN ZBOOK t2 ON t2.Z_PK = t1.Z_2BOOKS1 LEFT \
            OUTER JOIN ZAUTHOR t3 ON t3.Z_PK = t2.ZAUTHOR WHERE t1.Z_6TAGS = t0.Z_PK AND t3.ZNAME IS NULL)
            """),
        .check(
            "Author", "SUBQUERY(books, $b, $b.pages > 3 AND $b.author == SELF).@count > 1",
            """
            ZAUTHOR t0 WHERE (SELECT COUNT(*) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK AND t1.ZPAGES > ? AND \
            t1.ZAUTHOR = t0.Z_PK) > ?
            """, .integer(3), .integer(1)),
        .check(
            "Author", "books.@sum.pages > 10",
            "ZAUTHOR t0 WHERE (SELECT COALESCE(SUM(t1.ZPAGES), 0) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) > ?",
            .integer(10)),
        .check(
            "Author", "books.@avg.price > 10",
            "ZAUTHOR t0 WHERE (SELECT COALESCE(CDDecimalAverage(t1.ZPRICE), 0) "
                + "FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) > ?",
            .integer(10)),
        .check(
            "Author", "books.@max.published < now()",
            "ZAUTHOR t0 WHERE (SELECT MAX(t1.ZPUBLISHED) FROM ZBOOK t1 WHERE t1.ZAUTHOR = t0.Z_PK) < ?", .real(1000.0)),
        .check(
            "Author", "ANY books.tags.name == 'x'",
            """
            ZAUTHOR t0 WHERE EXISTS (SELECT 1 FROM ZBOOK t1 JOIN Z_2TAGS t2 ON t2.Z_2BOOKS1 = t1.Z_PK JOIN \
            ZTAG t3 ON t3.Z_PK = t2.Z_6TAGS WHERE t1.ZAUTHOR = t0.Z_PK AND t3.ZNAME = ?)
            """, .text("x")),
        .check(
            "Author", "books.tags.@count > 3",
            """
            ZAUTHOR t0 WHERE (SELECT COUNT(*) FROM ZBOOK t1 JOIN Z_2TAGS t2 ON t2.Z_2BOOKS1 = t1.Z_PK WHERE \
            t1.ZAUTHOR = t0.Z_PK) > ?
            """, .integer(3)),
        .check(
            "Tag", "ANY books.author.books.pages > 1",
            """
            ZTAG t0 WHERE EXISTS (SELECT 1 FROM Z_2TAGS t1 JOIN ZBOOK t2 ON t2.Z_PK = t1.Z_2BOOKS1 LEFT \
            OUTER JOIN ZBOOK t3 ON t3.ZAUTHOR = t2.ZAUTHOR WHERE t1.Z_6TAGS = t0.Z_PK AND (t3.Z_PK IS NOT \
            NULL OR t2.ZAUTHOR IS NULL) AND t3.ZPAGES > ?)
            """, .integer(1)),
        .check(
            "Book", "chapters[FIRST].title == 'x'",
            """
            ZBOOK t0 LEFT OUTER JOIN ZCHAPTER t2 ON t2.Z_PK = (SELECT t1.Z_PK FROM ZCHAPTER t1 WHERE \
            t1.ZBOOK = t0.Z_PK ORDER BY t1.Z_FOK_BOOK, t1.Z_PK LIMIT ?) WHERE t2.ZTITLE = ?
            """, .integer(1), .text("x")),
        .check(
            "Book", "chapters[LAST].length > 1",
            """
            ZBOOK t0 LEFT OUTER JOIN ZCHAPTER t2 ON t2.Z_PK = (SELECT t1.Z_PK FROM ZCHAPTER t1 WHERE \
            t1.ZBOOK = t0.Z_PK ORDER BY t1.Z_FOK_BOOK DESC, t1.Z_PK DESC LIMIT ?) WHERE t2.ZLENGTH > ?
            """, .integer(1), .integer(1)),
        .check(
            "Book", "chapters[SIZE] == 3",
            "ZBOOK t0 WHERE (SELECT COUNT(*) FROM ZCHAPTER t1 WHERE t1.ZBOOK = t0.Z_PK) = ?", .integer(3)),
        .check(
            "Shelf", "ANY picks.name == 'x'",
            "ZSHELF t0 WHERE EXISTS (SELECT 1 FROM ZTAG t1 WHERE t1.Z5PICKS = t0.Z_PK AND t1.ZNAME = ?)", .text("x")),
        .check(
            "Shelf", "SUBQUERY(books, $b, SUBQUERY($b.tags, $t, $t.heft > 1).@count > 2).@count == 0",
            """
            ZSHELF t0 WHERE NOT EXISTS (SELECT 1 FROM Z_2SHELVES t1 WHERE t1.Z_5SHELVES = t0.Z_PK AND (SELECT \
            COUNT(*) FROM Z_2TAGS t2 JOIN ZTAG t3 ON t3.Z_PK = t2.Z_6TAGS WHERE t2.Z_2BOOKS1 = t1.Z_2BOOKS \
            AND t3.ZHEFT > ?) > ?)
            """, .integer(1), .integer(2)),
        .check(
            "Book", "'x' IN tags.name",
            """
            ZBOOK t0 WHERE EXISTS (SELECT 1 FROM Z_2TAGS t1 JOIN ZTAG t2 ON t2.Z_PK = t1.Z_6TAGS WHERE \
            t1.Z_2BOOKS1 = t0.Z_PK AND t2.ZNAME = ?)
            """, .text("x")),
        .check(
            "Shelf", "books[0].title == 'x'",
            """
            ZSHELF t0 LEFT OUTER JOIN ZBOOK t2 ON t2.Z_PK = (SELECT t1.Z_2BOOKS FROM Z_2SHELVES t1 WHERE \
            t1.Z_5SHELVES = t0.Z_PK ORDER BY t1.Z_FOK_2BOOKS, t1.Z_2BOOKS LIMIT ?) WHERE t2.ZTITLE = ?
            """, .integer(1), .text("x")),
        .check(
            "Book", "author IN tags.books.author",
            """
            ZBOOK t0 WHERE EXISTS (SELECT 1 FROM Z_2TAGS t1 JOIN Z_2TAGS t2 ON t2.Z_6TAGS = t1.Z_6TAGS JOIN \
            ZBOOK t3 ON t3.Z_PK = t2.Z_2BOOKS1 WHERE t1.Z_2BOOKS1 = t0.Z_PK AND t3.ZAUTHOR = t0.ZAUTHOR)
            """),
        .check(
            "Book", "tags.@distinctUnionOfObjects.name.@count > 1",
            """
            ZBOOK t0 WHERE (SELECT COUNT(DISTINCT t2.ZNAME) FROM Z_2TAGS t1 JOIN ZTAG t2 ON t2.Z_PK = \
            t1.Z_6TAGS WHERE t1.Z_2BOOKS1 = t0.Z_PK AND t2.ZNAME IS NOT NULL) > ?
            """, .integer(1)),
        .check(
            "Book", "SUBQUERY(tags, $t, $t.heft > 1 AND $t.name == title).@max.heft > 3",
            """
            ZBOOK t0 WHERE (SELECT MAX(t2.ZHEFT) FROM Z_2TAGS t1 JOIN ZTAG t2 ON t2.Z_PK = t1.Z_6TAGS WHERE \
            t1.Z_2BOOKS1 = t0.Z_PK AND t2.ZHEFT > ? AND t2.ZNAME IS t0.ZTITLE) > ?
            """, .integer(1), .integer(3)),
    ]

    @Test(arguments: collections) func toManysBecomeSubselects(_ example: TranslationCase) throws { try example.run() }
}
