/* main.c - the program: one protected call around everything. */
#include <stdio.h>

int main(void)
{
    puts("soapstone");
    return 0;
}
